"""The modes of a service are checked when they are stated."""

from __future__ import annotations

from typing import Any

import pytest

from htppower import load_profile
from htppower.hosts.web import ModePolicy


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"allowed": "burst"}, TypeError, "a list of names"),
        ({"allowed": {"速い": "burst"}}, ValueError, "the name of a mode is '速い': printable ASCII"),
        ({"others": {"a\r\nb": "burst"}}, ValueError, "printable ASCII"),
        ({"others": (5,)}, TypeError, "the name of a mode is 5"),
        ({"routes": {"a": None}}, ValueError, "'a' matches no request: write a path that begins with / or *"),
        ({"routes": {"post /a": None}}, ValueError, "'post /a' matches no request"),
        ({"routes": {"POST  /a": None}}, ValueError, "'POST  /a' matches no request"),
        ({"routes": {"/a?x=1": None}}, ValueError, "matches no request"),
        ({"routes": {"/a": "decode"}}, ValueError, "'/a' has the mode 'decode': name it in allowed or in others"),
        ({"header": "a b"}, ValueError, "header is 'a b'"),
        ({"header": ""}, ValueError, "header is ''"),
        ({"most_json_bytes": -1}, ValueError, "most_json_bytes is -1"),
        ({"most_json_bytes": 1.5}, ValueError, "most_json_bytes is 1.5"),
    ],
)
def test_wrong_policies(wrong: dict[str, Any], error: type[Exception], says: str) -> None:
    """A mistake is found when the policy is made."""
    with pytest.raises(error, match=says):
        ModePolicy(**wrong)


def test_a_profile_may_be_a_value() -> None:
    """The service and each mode accept one."""
    burst = load_profile("burst")
    policy = ModePolicy(burst, allowed={"fast": burst})
    assert (policy.profile, policy.allowed) == (burst, {"fast": burst})

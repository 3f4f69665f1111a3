"""The mode of a request: from the header, the JSON field, the route or the service."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower import load_profile
from htppower.hosts.web import ModePolicy
from htppower.hosts.web.policy import Choice, Refusal, Route

ALLOWED = ("burst", "balanced", "power_saver")
POLICY = ModePolicy(allowed=ALLOWED, routes={"/v1/*": "balanced", "*": None})
ROUTED, PLAIN = Route.of("/v1/*", "balanced"), Route.of("*", None)


@pytest.mark.parametrize(
    ("route", "header", "field", "choice"),
    [
        (PLAIN, None, None, Choice(None, "service")),
        (PLAIN, "", None, Choice(None, "service")),
        (ROUTED, None, None, Choice("balanced", "route")),
        (ROUTED, None, "power_saver", Choice("power_saver", "JSON field")),
        (ROUTED, " burst ", "power_saver", Choice("burst", "header")),
        (ROUTED, "burst", 7, Choice("burst", "header")),
    ],
)
def test_the_header_counts_before_the_field_before_the_route(
    route: Route, header: str | None, field: object, choice: Choice
) -> None:
    """A request that asks for nothing has the mode of its route, or the profile of the service."""
    assert POLICY.choose(route, header, field) == choice


@pytest.mark.parametrize("asked", ["Burst", "zoom", "x" * 1000, 5, True, ["burst"], {}, "", "\ud800"])
def test_other_modes_are_refused(asked: object) -> None:
    """The answer names what was asked, shortened, the allowed modes, and where the request asked."""
    refusal = POLICY.choose(ROUTED, None, asked)
    assert isinstance(refusal, Refusal)
    error = json.loads(refusal.body)["error"]
    assert (error["code"], error["param"], error["allowed"]) == ("power_mode_not_allowed", "power_mode", list(ALLOWED))
    assert error["message"].endswith("one of burst, balanced, power_saver")
    assert len(error["message"]) < 150
    assert json.dumps(asked)[:50] in error["message"]


def test_a_mode_in_the_header_is_refused_by_its_name() -> None:
    """Two headers with a mode are one with a comma, which no mode has."""
    refusal = POLICY.choose(PLAIN, "burst, balanced")
    assert isinstance(refusal, Refusal)
    assert (refusal.parameter, refusal.asked) == ("x-power-mode", "burst, balanced")


def test_without_allowed_modes_a_request_can_not_choose() -> None:
    """The header is not looked at, and no body is read."""
    policy = ModePolicy(others=("balanced",), routes={"*": "balanced"})
    route = policy.route("POST", "/")
    assert route is not None
    assert policy.choose(route, "zoom", "zoom") == Choice("balanced", "route")
    assert not policy.reads_body("application/json", "", None)


def test_a_mode_of_a_route_is_not_allowed_to_requests() -> None:
    """``others`` has modes that only routes and code may use."""
    policy = ModePolicy(allowed=("burst",), others={"decode": "balanced"}, routes={"*": "decode"})
    route = policy.route("POST", "/")
    assert route is not None
    assert policy.choose(route, None) == Choice("decode", "route")
    assert isinstance(policy.choose(route, "decode"), Refusal)
    assert policy.modes == {"decode": "balanced", "burst": "burst"}


def test_a_body_that_is_too_long_is_reported() -> None:
    """The reason says that the field was not searched for."""
    assert POLICY.choose(PLAIN, None, unread=True) == Choice(None, "service; the body is too long for the JSON field")


@pytest.mark.parametrize(
    ("content_type", "encoding", "asked", "reads"),
    [
        ("application/json", "", None, True),
        ("Application/JSON; charset=utf-8", "identity", "", True),
        ("application/vnd.api+json", "", None, True),
        ("application/json", "gzip", None, False),
        ("application/json", "", "burst", False),
        ("multipart/form-data; boundary=json", "", None, False),
        ("application/jsonlines", "", None, False),
        ("", "", None, False),
    ],
)
def test_the_body_is_read_only_if_it_may_have_the_field(
    content_type: str, encoding: str, asked: str | None, reads: bool
) -> None:
    """It is JSON without an encoding, and the header has no mode."""
    assert POLICY.reads_body(content_type, encoding, asked) is reads
    assert not ModePolicy(allowed=ALLOWED, json_field=None).reads_body(content_type, encoding, asked)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"power_mode": "burst", "messages": []}', "burst"),
        ('{"power_mode": "burst"}'.encode("utf-16"), "burst"),
        (b'{"power_mode": null}', None),
        (b'{"deep": {"power_mode": "burst"}}', None),
        (b'["power_mode"]', None),
        (b"", None),
        (b'{"power_mode": "burst"', None),
        (b"\xff\xfe\xfa", None),
        (b"[" * 100_000, None),
        (b'{"n": ' + b"9" * 10_000 + b"}", None),
    ],
)
def test_the_field_of_a_body(body: bytes, value: object) -> None:
    """A body that can't be read has no mode: the application answers it."""
    assert POLICY.field(body) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_any_json_is_a_mode_or_is_refused_or_passes(value: object) -> None:
    """Nothing raises, whatever the body is."""
    field = POLICY.field(json.dumps({"power_mode": value}).encode())
    chosen = POLICY.choose(PLAIN, None, field)
    assert isinstance(chosen, Choice) is (value is None or value in ALLOWED)


@pytest.mark.parametrize(
    ("pattern", "method", "path", "matches"),
    [
        ("/v1/*", "POST", "/v1/chat/completions", True),
        ("/v1/*", "GET", "/v1/", True),
        ("/v1/*", "GET", "/v1", False),
        ("/v1/*", "OPTIONS", "/v1/chat", False),
        ("/v1/*", "HEAD", "/v1/chat", False),
        ("OPTIONS /v1/*", "OPTIONS", "/v1/chat", True),
        ("POST /v1/*", "GET", "/v1/chat", False),
        ("POST /v1/*", "POST", "/v1/chat", True),
        ("/models/*/infer", "POST", "/models/a/b/infer", True),
        ("/models/*/infer", "POST", "/models/a/other", False),
        ("/detect", "POST", "/detect/", False),
        ("*", "POST", "/any\nthing", True),
    ],
)
def test_routes(pattern: str, method: str, path: str, matches: bool) -> None:
    """A star is any text; without a method, requests that infer nothing do not match."""
    assert (ModePolicy(routes={pattern: None}).route(method, path) is not None) is matches


def test_the_first_route_that_matches_counts() -> None:
    """In the order of the mapping."""
    policy = ModePolicy(others=("balanced", "power_saver"), routes={"/a/b": "balanced", "/a/*": "power_saver"})
    modes = [route.mode for path in ("/a/b", "/a/c") if (route := policy.route("GET", path)) is not None]
    assert modes == ["balanced", "power_saver"]
    assert policy.route("GET", "/b") is None


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"allowed": "burst"}, TypeError, "a list of names"),
        ({"others": (5,)}, TypeError, "the name of a mode is 5"),
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
    """Of the service, and of a mode."""
    burst = load_profile("burst")
    policy = ModePolicy(burst, allowed={"fast": burst})
    assert (policy.profile, policy.modes) == (burst, {"fast": burst})

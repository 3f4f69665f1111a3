"""The keys at the top of a text, one by one."""

from __future__ import annotations

import pytest

from htppower.profiles.strict_yaml import MOST_VALUES
from htppower.tools.review.file_kinds import NoMapping, top_keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a: 1\nb: {c: 2}\nd:\n  - e: 3\nf: &g 4\nh: *g\n", ["a", "b", "d", "f", "h"]),
        ("text: |\n  test: x\n  cases: []\nquoted: 'a\n  test: b'\n", ["text", "quoted"]),
        ("{'a': [1, {b: 2}],\nc: x}\n", ["a", "c"]),
        ("? [no, word]\n: 1\na: 2\n", ["a"]),
        ("{}", []),
    ],
)
def test_keys_at_the_top_are_told(text: str, keys: list[str]) -> None:
    """Keys within a value or a text are left out, and so are keys that are not words."""
    assert list(top_keys(text)) == keys


@pytest.mark.parametrize(
    "text",
    [
        *("", "# nothing", "a", "[a, b]", "a: 1\n---\nb: 2\n", "a: 1\n---\nb\n", "a: 'open\n", "a: \x07\n"),
        "\n".join(f"a{number}: 1" for number in range(2 * MOST_VALUES)),
    ],
)
def test_what_is_no_mapping_is_told_at_the_end(text: str) -> None:
    """A text that is not a mapping, malformed, too large or of two documents raises NoMapping."""
    with pytest.raises(NoMapping):
        list(top_keys(text))


def test_no_more_is_read_than_is_asked_for() -> None:
    """A reader that stops at a key does not meet a later mistake."""
    assert next(top_keys("test: mine\ncases: [\n")) == "test"

"""Edits of JSON texts: only the requested bytes change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.tools.extensions.json_edits import new_text, with_value, without
from htppower.tools.extensions.json_text import parse_json

PRETTY = '{\n    "a": 1,\n    "b" : {"c": [1,2]},\n    "d": {},\n    "e": [\n        {"f": null}\n    ]\n}\n'


def edited(text: str, keys: str, value: Any) -> str:
    """Return a text with another value, by its keys with dots between."""
    return with_value(parse_json(text), tuple(keys.split(".")), value).text


@pytest.mark.parametrize(
    ("keys", "value", "old", "new"),
    [
        ("a", 2, '"a": 1', '"a": 2'),
        ("a", {"x": [1]}, '"a": 1', '"a": {\n        "x": [1]\n    }'),
        ("b.c", [3], "[1,2]", "[3]"),
        ("b.n", {"x": 1}, "[1,2]}", '[1,2], "n": {"x": 1}}'),
        ("d.x", True, "{}", '{\n        "x": true\n    }'),
        ("e.0.g", "é", "null}", 'null, "g": "é"}'),
        ("e.1", {"x": 1}, "null}", 'null},\n        {\n            "x": 1\n        }'),
        ("n.0.x", 1, "\n    ]", '\n    ],\n    "n": [\n        {\n            "x": 1\n        }\n    ]'),
    ],
)
def test_only_what_is_asked_for_changes(keys: str, value: Any, old: str, new: str) -> None:
    """A new value has the style of the lines around it, and the rest stays the same."""
    assert edited(PRETTY, keys, value) == PRETTY.replace(old, new)


def test_a_text_in_one_line_stays_in_one() -> None:
    """A text without indentation gets none, and new colons and commas look like the old ones."""
    assert edited('{"a":1}', "b.c", [1, {"d": 2}]) == '{"a":1,"b":{"c":[1,{"d":2}]}}'
    assert edited('{"a": 1}', "b.c", 2) == '{"a": 1, "b": {"c": 2}}'


def test_line_ends_tabs_and_a_byte_order_mark_are_kept() -> None:
    """Added lines have the line ends and the indentation of the file."""
    document = parse_json(b'\xef\xbb\xbf{\r\n\t"a": {}\r\n}\r\n')
    changed = with_value(document, ("a", "b"), {"c": 1})
    assert changed.encoded() == b'\xef\xbb\xbf{\r\n\t"a": {\r\n\t\t"b": {\r\n\t\t\t"c": 1\r\n\t\t}\r\n\t}\r\n}\r\n'


@pytest.mark.parametrize(
    ("keys", "old", "new"),
    [
        ("a", '"a": 1,\n    ', ""),
        ("d", '"d": {},\n    ', ""),
        ("e", ',\n    "e": [\n        {"f": null}\n    ]', ""),
        ("b.c", '{"c": [1,2]}', "{}"),
        ("b.c.0", "[1,2]", "[2]"),
        ("b.c.1", "[1,2]", "[1]"),
        ("nothing", "", ""),
        ("a.b", "", ""),
    ],
)
def test_what_is_taken_out_leaves_the_rest(keys: str, old: str, new: str) -> None:
    """A member or item is removed with its comma."""
    assert without(parse_json(PRETTY), tuple(keys.split("."))).text == PRETTY.replace(old, new)


def test_a_value_that_is_there_already_changes_nothing() -> None:
    """The layout of an equal value stays; but 1 is neither true nor 1.0."""
    assert edited('{"a": [ 1,\n2 ]}', "a", [1, 2]) == '{"a": [ 1,\n2 ]}'
    assert edited('{"a": 1}', "a", True) == '{"a": true}'
    assert edited('{"a": 1.0}', "a", 1) == '{"a": 1}'


def test_a_value_in_the_way_is_refused() -> None:
    """Keys that lead through a number are a mistake of the caller."""
    with pytest.raises(ValueError, match="an integer where an object or a list is needed"):
        edited('{"a": 1}', "a.b", 2)


SCALARS: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
TREES = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
        max_leaves=8,
    ),
)


@given(TREES, TREES, st.sampled_from("abcd"), st.sampled_from([None, 1, 2, 4, "\t"]))
def test_edits_say_what_was_asked(tree: dict[str, Any], value: Any, key: str, indent: int | str | None) -> None:
    """For any tree and layout, the result is JSON with the value, and removing it gives the original."""
    document = parse_json(json.dumps(tree, indent=indent))
    changed = with_value(document, (key,), value)
    assert changed.accepted().plain() == {**tree, key: value}
    rest = {name: each for name, each in tree.items() if name != key}
    assert without(changed, (key,)).accepted().plain() == rest


@given(TREES)
def test_a_new_text_says_its_value(tree: dict[str, Any]) -> None:
    """The text is JSON and ends with a line break."""
    text = new_text(tree)
    assert json.loads(text) == tree
    assert text.endswith("\n")

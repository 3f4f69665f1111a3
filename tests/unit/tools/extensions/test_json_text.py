"""Strict JSON with places: which texts are read or refused, and the bytes that are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.errors import ProfileError
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.json_text import parse_json, read_json

if TYPE_CHECKING:
    from pathlib import Path

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def problem(text: str | bytes) -> str:
    """Return the problem of a text, from its line on."""
    found = parse_json(text, "f").problem
    assert found is not None
    return str(found).removeprefix("f:")


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_what_the_standard_library_writes_is_read(value: Any, indent: int | None, ascii_only: bool) -> None:
    """Any value is read as it was written, in any layout."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse_json(text).accepted().plain() == value


@given(st.text(alphabet='{}[]",:.\\01-+eEntrufalsx \n\0', max_size=40) | st.text(max_size=20))
def test_no_text_is_taken_that_the_standard_library_refuses(text: str) -> None:
    """If both accept a text, they read the same; each refusal has a place in the text."""
    document = parse_json(text)
    if document.problem is not None:
        assert 1 <= document.problem.line <= text.count("\n") + 1
        assert document.problem.column >= 1
    elif document.ends_at is None and not document.byte_order_mark:
        assert document.accepted().plain() == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: JSON-1: the text ends where a value is needed"),
        ('{\n  "a": 1,\n}', "2:9: JSON-1: a comma before } (delete it)"),
        ("[1,]", "1:3: JSON-1: a comma before ] (delete it)"),
        ('{"a": 1', "1:1: JSON-1: { is not closed (add })"),
        ('{"a": [1, 2}', "1:12: JSON-1: '}' where a comma or ] is needed"),
        ('{"a" 1}', "1:6: JSON-1: '1' where a colon is needed"),
        ("{a: 1}", "1:2: JSON-1: 'a' where a key in double quotes is needed"),
        ("{'a': 1}", '1:2: JSON-1: single quotes (write ")'),
        ('// x\n{"a": 1}', "1:1: JSON-1: a comment (JSON has none: delete it)"),
        ('{"a": 1} # x', "1:10: JSON-1: text after the end of the JSON (keep one value)"),
        ("{} {}", "1:4: JSON-1: text after the end of the JSON (keep one value)"),
        ('{"a": True}', "1:7: JSON-1: 'True' where a value is needed (write true)"),
        ('{"a": NaN}', "1:7: JSON-1: 'NaN' where a value is needed"),
        ('{"a": 010}', "1:7: JSON-1: '010' where a value is needed"),
        ('{"a": 0.0e310}', "1:7: JSON-1: the number is too large (no setting needs such a number)"),
        ('{"a": 1e999}', "1:7: JSON-1: the number is too large (no setting needs such a number)"),
        (f'{{"a": {"9" * 5000}}}', "1:7: JSON-1: the number is too large (no setting needs such a number)"),
        ('{"a": "b\nc"}', '1:7: JSON-1: the quotes are not closed (end the text with ")'),
        ('{"a": "b', '1:7: JSON-1: the quotes are not closed (end the text with ")'),
        ('{"a": "\\\\\\"b\nc"}', '1:7: JSON-1: the quotes are not closed (end the text with ")'),
        ('{"a": "b\tc"}', "1:9: JSON-1: a control character in a text (write it as an escape, such as \\t or \\u0007)"),
        ('{"a": "\\q"}', "1:8: JSON-1: an unknown escape (write \\\\ for a backslash)"),
        ('{"a": "\\u12"}', "1:8: JSON-1: an escape without its four hexadecimal digits (write \\u and four digits)"),
        ('{"a": "\\udc00"}', "1:8: JSON-1: half of a surrogate pair (write the character itself)"),
        ('{"a": "\\ud800x"}', "1:8: JSON-1: half of a surrogate pair (write the character itself)"),
        ("[" * 5000, "1:101: JSON-1: nested deeper than 100 levels"),
        ('{"a":' * 5000, "1:501: JSON-1: nested deeper than 100 levels"),
        ("{}".encode("utf-16"), "1:1: JSON-1: '\\udcff' where a value is needed"),
    ],
)
def test_what_is_no_json_is_said_at_its_place(text: str | bytes, said: str) -> None:
    """The first mistake has a line, a column and, if clear, a correction; deep nesting is not a crash."""
    assert problem(text) == said


def test_a_key_that_is_given_twice_is_there_twice() -> None:
    """Both members are in the tree with their places; a lookup gives the first, as in the vendor's parser."""
    document = parse_json('{"a": 1,\n "a": 2}', "f")
    root = document.accepted()
    assert [(member.key, document.place(member.start).line, member.node.value) for member in root.members] == [
        ("a", 1, 1),
        ("a", 2, 2),
    ]
    assert document.at(("a",)) == root.members[0].node
    assert root.plain() == {"a": 1}


def test_an_integer_is_told_from_a_number_with_a_fraction() -> None:
    """1 and 1.0 differ, since the vendor's parser accepts only one of them for a key."""
    kinds = [item.kind for item in parse_json("[1, -0, 1.0, 1e2, true, null, [], {}]").accepted().items]
    whole, fraction = Kind.INTEGER, Kind.FRACTION
    assert kinds == [whole, whole, fraction, fraction, Kind.BOOL, Kind.NULL, Kind.LIST, Kind.OBJECT]


def test_values_are_found_by_the_keys_that_lead_to_them() -> None:
    """Items are found by their index; keys that lead nowhere give None."""
    document = parse_json('{"a": [{"b": 1}]}')
    found = document.at(("a", "0", "b"))
    assert found is not None
    assert document.text[found.start : found.end] == "1"
    for nowhere in (("a", "1"), ("a", "b"), ("b",), ("a", "0", "b", "c")):
        assert document.at(nowhere) is None


@pytest.mark.parametrize("data", [b'\xef\xbb\xbf{"a": "\xff"}\r\n', b"{}\0rest", "{}é\0".encode()[:2]])
def test_the_bytes_of_a_file_are_kept(data: bytes) -> None:
    """A byte order mark, bytes that are not UTF-8, and bytes after a NUL are written back unchanged."""
    assert parse_json(data).encoded() == data


def test_what_the_vendor_takes_differently_is_told() -> None:
    """A byte order mark, bytes that are not UTF-8, and a NUL after the tree are not problems of the text."""
    marked = parse_json(b'\xef\xbb\xbf{"a": "\xff"}')
    assert (marked.problem, marked.byte_order_mark, marked.ends_at) == (None, True, None)
    ended = parse_json(b"{}\0rest")
    assert (ended.problem, ended.byte_order_mark, ended.ends_at) == (None, False, 2)


def test_what_can_not_be_read_is_a_problem(tmp_path: Path) -> None:
    """A missing file, a folder and a file above 1 MiB are problems without a line, or raised if a tree is needed."""
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (1024 * 1024 + 1))
    for path, rule in ((tmp_path / "none.json", "FILE-1"), (tmp_path, "FILE-1"), (large, "FILE-2")):
        document = read_json(path)
        assert document.problem is not None
        assert (document.problem.rule, document.problem.path, document.problem.line) == (rule, str(path), 0)
        with pytest.raises(ProfileError):
            document.accepted()


def test_a_text_has_a_limit_of_values_and_of_keys() -> None:
    """Too many values, or too deep keys, are refused at their place, so every file is read quickly."""
    assert (
        problem(f"[{','.join(['{}'] * 20_000)}]")
        == "1:59999: JSON-1: more than 20000 values (write only what it needs)"
    )
    assert "1:1007: JSON-1: the path of keys to this place has more" in problem(f'{{"{"k" * 1000}": {{"a": 1}}}}')
    assert parse_json(f'{{"{"k" * 999}": {{"a": [{"1," * 9000} 1]}}}}').problem is None

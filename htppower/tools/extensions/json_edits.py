"""Edits a JSON text and leaves every other byte unchanged: indentation, line ends, order of keys, spelling."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.json_text import JsonText, parse_json

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_parser import Node

_INDENT = re.compile(r"[ \t]*")
_DEFAULT_STEP = "  "


def with_value(document: JsonText, keys: KeyPath, value: Any) -> JsonText:
    """Return a document with another value at a path of keys; missing objects on the path are added.

    The index after the end of a list adds an item there. If the value is equal already, nothing changes. If a key is
    given twice, the first is changed.

    Args:
        document: a text that is JSON.
        keys: the path to the value, list items by their index; empty for the root.
        value: dict, list, str, int, float, bool or None.

    Raises:
        ValueError: the path leads through a value that is neither an object nor a list.
    """
    known = len(keys)
    while (node := document.at(keys[:known])) is None:
        known -= 1
    style = _Style.of(document)
    if known == len(keys):
        if _same(node.plain(), value):
            return document
        indent = _own_line(document.text, _owner_start(document, keys))
        return _spliced(document, node.start, node.end, style.dumped(value, indent))
    for key in reversed(keys[known + 1 :]):
        value = [value] if key.isdecimal() else {key: value}
    return _with_element(document, node, keys[known], value, style)


def without(document: JsonText, keys: KeyPath) -> JsonText:
    """Return a document without the member or item at a path of keys; unchanged if it does not exist."""
    holder = document.at(keys[:-1]) if keys else None
    if holder is None or document.at(keys) is None:
        return document
    spans = _spans(holder)
    if holder.kind is Kind.LIST:
        number = int(keys[-1])
    else:
        number = next(i for i, member in enumerate(holder.members) if member.key == keys[-1])
    start, end = spans[number]
    if number + 1 < len(spans):
        end = spans[number + 1][0]
    elif number:
        start = spans[number - 1][1]
    else:
        start, end = holder.start + 1, holder.end - 1
    return _spliced(document, start, end, "")


def new_text(value: Any) -> str:
    """Return a value as the text of a new file: indented by two spaces, lists of plain values on one line."""
    return _Style(_DEFAULT_STEP).dumped(value, "") + "\n"


def _with_element(document: JsonText, holder: Node, key: str, value: Any, style: _Style) -> JsonText:
    """Return a document with a new member or item at the end of an object or list."""
    if holder.kind not in (Kind.OBJECT, Kind.LIST):
        raise ValueError(f"{holder.kind} where an object or a list is needed")
    spans = _spans(holder)
    label = "" if holder.kind is Kind.LIST else f"{_plain(key)}{style.colon}"
    if not spans:
        indent = _own_line(document.text, _line_start(document.text, holder.start))
        inner = None if style.step is None or indent is None else indent + style.step
        said = label + style.dumped(value, inner)
        if inner is not None:
            said = f"{style.line_end}{inner}{said}{style.line_end}{indent}"
        return _spliced(document, holder.start + 1, holder.end - 1, said)
    start, end = spans[-1]
    indent = _own_line(document.text, start)
    before = style.comma if indent is None else f",{style.line_end}{indent}"
    return _spliced(document, end, end, before + label + style.dumped(value, indent))


def _spans(holder: Node) -> list[tuple[int, int]]:
    """Return the start and end of each member or item of an object or list."""
    if holder.kind is Kind.LIST:
        return [(item.start, item.end) for item in holder.items]
    return [(member.start, member.node.end) for member in holder.members]


def _owner_start(document: JsonText, keys: KeyPath) -> int:
    """Return the start of the member or item with a value; for the root, the start of the value itself."""
    holder = document.at(keys[:-1]) if keys else None
    if holder is None:
        return document.accepted().start
    if holder.kind is Kind.LIST:
        return holder.items[int(keys[-1])].start
    return next(member.start for member in holder.members if member.key == keys[-1])


def _line_start(text: str, offset: int) -> int:
    """Return the first character of a line that is not a space."""
    start = text.rfind("\n", 0, offset) + 1
    found = _INDENT.match(text, start)
    return start if found is None else found.end()


def _own_line(text: str, offset: int) -> str | None:
    """Return the indentation of a character that is the first in its line; None for any other."""
    first = _line_start(text, offset)
    return text[text.rfind("\n", 0, offset) + 1 : first] if first == offset else None


def _spliced(document: JsonText, start: int, end: int, text: str) -> JsonText:
    changed = parse_json(document.text[:start] + text + document.text[end:], document.path)
    return attrs.evolve(changed, byte_order_mark=document.byte_order_mark)


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are equal in value and spelling: 1 is neither true nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@attrs.frozen
class _Style:
    """The formatting of a document.

    Attributes:
        step: the indentation of a level; None if the document is a single line.
        line_end: the line ending.
        colon: the colon with the spaces around it.
        comma: the comma within a line, with the spaces after it.
    """

    step: str | None
    line_end: str = "\n"
    colon: str = ": "
    comma: str = ", "

    @classmethod
    def of(cls, document: JsonText) -> _Style:
        """Return the style of a document, from its first key; for an empty document, the style of a new file."""
        root = document.accepted()
        text = document.text
        line_end = "\r\n" if "\r\n" in text else "\n"
        spans = _spans(root)
        if not spans:
            return cls(_DEFAULT_STEP, line_end)
        step = _own_line(text, spans[0][0])
        if "\n" not in text[root.start : spans[0][0]]:
            step = None
        colon = ": " if root.kind is Kind.LIST else text[root.members[0].end : root.members[0].node.start]
        if "\n" in colon or "\r" in colon:
            colon = ": "
        return cls(step, line_end, colon, ", " if colon != ":" else ",")

    def dumped(self, value: Any, indent: str | None) -> str:
        """Return the text of a value with this indentation; with None, on one line."""
        inner = None if indent is None or self.step is None else indent + self.step
        if isinstance(value, dict):
            parts = [f"{_plain(key)}{self.colon}{self.dumped(each, inner)}" for key, each in value.items()]
            return self._held("{", parts, "}", indent, inner)
        if isinstance(value, list):
            scalar = not any(isinstance(each, (dict, list)) for each in value)
            within = None if scalar else inner
            return self._held("[", [self.dumped(each, within) for each in value], "]", indent, within)
        return _plain(value)

    def _held(self, opened: str, parts: list[str], closed: str, indent: str | None, inner: str | None) -> str:
        if not parts or inner is None:
            return opened + self.comma.join(parts) + closed
        lines = f",{self.line_end}{inner}".join(parts)
        return f"{opened}{self.line_end}{inner}{lines}{self.line_end}{indent}{closed}"

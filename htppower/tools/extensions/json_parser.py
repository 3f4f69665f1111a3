"""A strict parser of JSON that keeps the place of every value; the parser of the standard library does neither."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from htppower.tools.extensions.json_nodes import Kind, Member, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST_NESTING = 100
MOST_VALUES = 20_000
# Each value is looked up by its path of keys: paths of known keys have fewer than 200 characters.
LONGEST_KEYS = 1_000
TOO_DEEP = f"nested deeper than {DEEPEST_NESTING} levels"

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.(?P<digits>[0-9]+))?(?:[eE](?P<exponent>[+-]?[0-9]+))?)")
# The exponent of the largest double. After a whole number the vendor's parser refuses larger ones, even after 0.
_LARGEST_EXPONENT = 308
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORD = re.compile(r"[-+.\w]+")
_UNICODE = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"true": True, "false": False, "null": None}
_HIGH, _LOW, _END = 0xD800, 0xDC00, 0xE000


def parse(text: str) -> tuple[Node, int | None]:
    """Return the tree of a text, and the offset of a NUL after it, where a parser in C ends the text; or None.

    Raises:
        NotJson: at the place where the text is not JSON.
    """
    return _Parser(text).document()


class NotJson(Exception):  # noqa: N818 - never leaves the reading of a text
    """The place where a text is not JSON."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


class _Parser:
    """Builds the nodes of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values = 0

    def document(self) -> tuple[Node, int | None]:
        """Return the root, and the offset of a NUL after it, where a parser in C ends the text."""
        root = self._value(self._space(0), 0, 0)
        at = self._space(root.end)
        if at == len(self._text):
            return root, None
        if self._text[at] == "\0":
            return root, at
        raise NotJson(at, "text after the end of the JSON", "keep one value")

    def _value(self, at: int, depth: int, keys: int) -> Node:
        """Return the value at an offset; ``depth`` is its nesting, ``keys`` the length of its keys in characters."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise NotJson(at, f"more than {MOST_VALUES} values", "write only what it needs")
        character = self._text[at : at + 1]
        if character in ("{", "["):
            if depth == DEEPEST_NESTING:
                raise NotJson(at, TOO_DEEP)
            return self._object(at, depth, keys) if character == "{" else self._list(at, depth, keys)
        if character == '"':
            value, end = self._string(at)
            return Node(Kind.TEXT, at, end, value)
        word = _WORD.match(self._text, at)
        said = "" if word is None else word.group()
        if said in _CONSTANTS:
            return Node(Kind.NULL if said == "null" else Kind.BOOL, at, at + len(said), _CONSTANTS[said])
        number = _NUMBER.match(self._text, at)
        if number is None or number.group() != said:
            raise self._unexpected(at, "a value")
        return self._number(number)

    def _number(self, found: re.Match[str]) -> Node:
        size = float(found.group())
        if math.isinf(size) or self._overflows(found):
            raise NotJson(found.start(), "the number is too large", "no setting needs such a number")
        if found["fraction"]:
            return Node(Kind.FRACTION, found.start(), found.end(), size)
        return Node(Kind.INTEGER, found.start(), found.end(), int(found.group()))

    def _overflows(self, found: re.Match[str]) -> bool:
        exponent = float(found["exponent"] or 0)
        return exponent > _LARGEST_EXPONENT + len(found["digits"] or "")

    def _object(self, start: int, depth: int, keys: int) -> Node:
        members: list[Member] = []
        for at in self._elements(start, "}"):
            if self._text[at : at + 1] != '"':
                raise self._unexpected(at, "a key in double quotes")
            key, end = self._string(at)
            if keys + len(key) > LONGEST_KEYS:
                message = f"the path of keys to this place has more than {LONGEST_KEYS} characters"
                raise NotJson(at, message, "use shorter keys: every known key is much shorter")
            colon = self._space(end)
            if self._text[colon : colon + 1] != ":":
                raise self._unexpected(colon, "a colon")
            node = self._value(self._space(colon + 1), depth + 1, keys + len(key))
            members.append(Member(key, at, end, node))
            self._end = node.end
        return Node(Kind.OBJECT, start, self._end, None, tuple(members))

    def _list(self, start: int, depth: int, keys: int) -> Node:
        items: list[Node] = []
        for at in self._elements(start, "]"):
            items.append(self._value(at, depth + 1, keys))
            self._end = items[-1].end
        return Node(Kind.LIST, start, self._end, None, (), tuple(items))

    def _elements(self, start: int, close: str) -> Iterator[int]:
        """Yield the start of each element of an object or list; the caller must set ``_end`` to the element's end."""
        at = self._space(start + 1)
        if self._text[at : at + 1] == close:
            self._end = at + 1
            return
        while True:
            yield at
            at = self._space(self._end)
            character = self._text[at : at + 1]
            if character == close:
                self._end = at + 1
                return
            if character != ",":
                raise self._unexpected(at, f"a comma or {close}", opened=start)
            comma = at
            at = self._space(at + 1)
            if self._text[at : at + 1] == close:
                raise NotJson(comma, f"a comma before {close}", "delete it")

    def _string(self, start: int) -> tuple[str, int]:
        """Return a text without its quotes and escapes, and the offset after it."""
        parts: list[str] = []
        at = start + 1
        while True:
            end = self._after(_PLAIN, at)
            parts.append(self._text[at:end])
            at = end
            character = self._text[at : at + 1]
            if character == '"':
                return "".join(parts), at + 1
            if character != "\\":
                break
            part, at = self._escape(at)
            parts.append(part)
        if at == len(self._text) or character in ("\n", "\r", "\0"):
            raise NotJson(start, "the quotes are not closed", 'end the text with "')
        raise NotJson(at, "a control character in a text", "write it as an escape, such as \\t or \\u0007")

    def _escape(self, at: int) -> tuple[str, int]:
        letter = self._text[at + 1 : at + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], at + 2
        if letter != "u":
            raise NotJson(at, "an unknown escape", "write \\\\ for a backslash")
        code = self._code(at)
        if not _HIGH <= code < _END:
            return chr(code), at + 6
        low = self._code(at + 6) if self._text[at + 6 : at + 8] == "\\u" and code < _LOW else 0
        if not _LOW <= low < _END:
            raise NotJson(at, "half of a surrogate pair", "write the character itself")
        return chr(0x10000 + ((code - _HIGH) << 10) + (low - _LOW)), at + 12

    def _code(self, at: int) -> int:
        found = _UNICODE.match(self._text, at + 2)
        if found is None:
            raise NotJson(at, "an escape without its four hexadecimal digits", "write \\u and four digits")
        return int(found.group(), 16)

    def _space(self, at: int) -> int:
        return self._after(_SPACE, at)

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        """Return the offset after the text of a pattern, which may be empty."""
        found = pattern.match(self._text, at)
        return at if found is None else found.end()

    def _unexpected(self, at: int, wanted: str, opened: int | None = None) -> NotJson:
        rest = self._text[at : at + 40]
        if not rest or rest[0] == "\0":
            if opened is not None:
                return NotJson(opened, f"{self._text[opened]} is not closed", f"add {wanted.rpartition(' ')[2]}")
            return NotJson(at, f"the text ends where {wanted} is needed")
        if rest.startswith(("//", "/*", "#")):
            return NotJson(at, "a comment", "JSON has none: delete it")
        if rest[0] == "'":
            return NotJson(at, "single quotes", 'write "')
        word = _WORD.match(rest)
        said = rest[0] if word is None else word.group()
        hint = f"write {said.lower()}" if said.lower() in _CONSTANTS else ""
        return NotJson(at, f"{said!r} where {wanted} is needed", hint)

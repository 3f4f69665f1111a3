"""A JSON text as a tree of nodes with places. The decoder of the standard library reads it, but keeps no places.

It refuses what the vendor's parser refuses, too: NaN, huge numbers, and half a surrogate pair.
"""

from __future__ import annotations

import enum
import functools
import json
import json.decoder
import json.scanner
import math
import re
from typing import Any, NamedTuple


class Kind(str, enum.Enum):
    """The kind of a node, as messages name it."""

    OBJECT = "an object"
    LIST = "a list"
    TEXT = "a text"
    INTEGER = "an integer"
    FRACTION = "a number with a fraction or an exponent"
    BOOL = "true or false"
    NULL = "null"

    __str__ = str.__str__


# Named tuples, since a file has one for each of its values.
class Node(NamedTuple):
    """A value, with its place.

    Attributes:
        kind: the kind of value.
        start, end: the offsets of its first character, and after its last.
        value: the value of a text, number, true, false or null; None for an object or list.
        members: the members of an object, in their order; a key that is given twice has two members.
        items: the items of a list.
    """

    kind: Kind
    start: int
    end: int
    value: Any = None
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> Node | None:
        """Return the value of a key; if it is given twice, the first, which the vendor's parser uses."""
        return next((member.node for member in self.members if member.key == key), None)

    @property
    def is_number(self) -> bool:
        """Whether it is any number."""
        return self.kind in (Kind.INTEGER, Kind.FRACTION)

    @property
    def is_integer(self) -> bool:
        """Whether a parser in C reads it as an integer; it reads an integer of more than 64 bits as a double."""
        return self.kind is Kind.INTEGER and -(2**63) <= self.value < 2**64

    @property
    def c_text(self) -> str:
        """Its text up to a NUL, where C ends a text."""
        return str(self.value).partition("\0")[0]

    def firsts(self) -> dict[str, Member]:
        """Return the members by key; if a key is given twice, the first member at the position of the last."""
        return dict(reversed({member.key: member for member in reversed(self.members)}.items()))

    def plain(self) -> Any:
        """Return the value as dict, list, str, int, float, bool or None; of a key given twice, the first value."""
        if self.kind is Kind.OBJECT:
            return {member.key: member.node.plain() for member in reversed(self.members)}
        if self.kind is Kind.LIST:
            return [item.plain() for item in self.items]
        return self.value


class Member(NamedTuple):
    """A key of an object, and its value.

    Attributes:
        key: the key, with its escapes resolved.
        start, end: the offsets of the key with its quotes.
        node: the value.
    """

    key: str
    start: int
    end: int
    node: Node


DEEPEST_NESTING = 100
MOST_VALUES = 20_000
# Each value is looked up by its path of keys: paths of known keys have fewer than 200 characters.
_LONGEST_KEYS = 1_000
TOO_DEEP = f"nested deeper than {DEEPEST_NESTING} levels"

_SPACES = " \t\n\r"
_WORD = re.compile(r"[-+.\w]{1,40}")
_WORDS = ("true", "false", "null")
# The exponent of the largest double. After a whole number the vendor's parser refuses larger ones, even after 0.
_LARGEST_EXPONENT = 308
# An escape; the group is half of a surrogate pair without its other half.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")
# A quote, or an escape, which may be of a quote.
_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_KINDS = {bool: Kind.BOOL, int: Kind.INTEGER, float: Kind.FRACTION, str: Kind.TEXT, type(None): Kind.NULL}
# Message and hint by the beginning of the decoder's own message, which differs between versions of Python.
_IN_TEXTS = {
    "Unterminated": ("the quotes are not closed", 'end the text with "'),
    "Invalid control": ("a control character in a text", "write it as an escape, such as \\t or \\u0007"),
    "Invalid \\u": ("an escape without its four hexadecimal digits", "write \\u and four digits"),
    "Invalid \\": ("an unknown escape", "write \\\\ for a backslash"),
}
_WANTED = {"Expecting property": "a key in double quotes", "Expecting ':'": "a colon", "Expecting ','": "a comma or "}


class NotJson(Exception):  # noqa: N818 - never leaves the reading of a text
    """The place where a text is not JSON."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


def parse(text: str) -> tuple[Node, int | None]:
    """Return the tree of a text, and the offset of a NUL after it, where a parser in C ends the text; or None.

    Raises:
        NotJson: at the place where the text is not JSON.
    """
    root = _Decoder().root(text)
    end = len(text) - len(text[root.end :].lstrip(_SPACES))
    if text[end : end + 1] not in ("", "\0"):
        raise NotJson(end, "text after the end of the JSON", "keep one value")
    half = next((found for found in _ESCAPE.finditer(text, 0, root.end) if found[1]), None)
    if half is not None:
        raise NotJson(half.start(), "half of a surrogate pair", "write the character itself")
    _check_keys(root, 0)
    return root, None if end == len(text) else end


class _Decoder(json.JSONDecoder):
    """Makes a node of each value: the scanner of the standard library calls these methods for objects and lists."""

    def __init__(self) -> None:
        super().__init__(parse_int=_integer, parse_float=_fraction)
        self.parse_object, self.parse_array = self._object, self._list
        self._scan: Any = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]
        self._values = 0
        self._open: list[int] = []

    def root(self, text: str) -> Node:
        at = len(text) - len(text.lstrip(_SPACES))
        try:
            return self._node(self._scan, text, at)[0]
        except StopIteration:
            raise _unexpected(text, at, "a value") from None
        except json.JSONDecodeError as error:
            raise self._problem(text, error.pos, error.msg) from None

    def _node(self, scan: Any, text: str, at: int) -> tuple[Node, int]:
        """Return the value at an offset, and the offset after it."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise NotJson(at, f"more than {MOST_VALUES} values", "write only what it needs")
        value, end = scan(text, at)
        if isinstance(value, Node):
            return value, end
        said = text[at:end]
        if not isinstance(value, str) and (_WORD.match(text, end) or not said.isascii() or said.endswith(("N", "y"))):
            # For example 010, NaN or -Infinity.
            raise _unexpected(text, at, "a value")
        if isinstance(value, float) and math.isinf(value):
            raise NotJson(at, "the number is too large", "no setting needs such a number")
        return Node(_KINDS[type(value)], at, end, value), end

    def _object(self, begin: tuple[str, int], strict: bool, scan: Any, *_: object) -> tuple[Node, int]:
        # With ``list`` the decoder returns the pairs of keys and values.
        pairs, end = json.decoder.JSONObject(begin, strict, self._entered(begin, scan), None, list)  # type: ignore[attr-defined]
        members = []
        text, at = begin
        for key, node in pairs:
            # Only space and a comma precede a key, and only space and a colon follow it.
            start = text.index('"', at)
            members.append(Member(key, start, text.rindex('"', start, node.start) + 1, node))
            at = node.end
        return Node(Kind.OBJECT, self._open.pop(), end, members=tuple(members)), end

    def _list(self, begin: tuple[str, int], scan: Any) -> tuple[Node, int]:
        items, end = json.decoder.JSONArray(begin, self._entered(begin, scan))  # type: ignore[attr-defined]
        return Node(Kind.LIST, self._open.pop(), end, items=tuple(items)), end

    def _entered(self, begin: tuple[str, int], scan: Any) -> Any:
        """Note the start of an object or list, and return the reader of its values."""
        start = begin[1] - 1
        if len(self._open) == DEEPEST_NESTING:
            raise NotJson(start, TOO_DEEP)
        self._open.append(start)
        return functools.partial(self._node, scan)

    def _problem(self, text: str, at: int, said: str) -> NotJson:
        """Return an error of the decoder in words of this package."""
        if said.startswith("Invalid control") and text[at] in "\n\r\0":
            said = "Unterminated"
            at = max(found.start() for found in _QUOTE.finditer(text, 0, at) if found[0] == '"')
        for start, (message, hint) in _IN_TEXTS.items():
            if said.startswith(start):
                return NotJson(text.rindex("\\", 0, at + 1) if "\\" in start else at, message, hint)
        opened = self._open[-1] if self._open else at
        close = "}" if text[opened : opened + 1] == "{" else "]"
        comma = at if text[at : at + 1] == "," else len(text[:at].rstrip(_SPACES)) - 1
        if text[comma : comma + 1] == "," and text[comma + 1 :].lstrip(_SPACES).startswith(close):
            return NotJson(comma, f"a comma before {close}", "delete it")
        wanted = next((wanted for start, wanted in _WANTED.items() if said.startswith(start)), "a value")
        if wanted.endswith("or "):
            if text[at : at + 1] in ("", "\0"):
                return NotJson(opened, f"{text[opened]} is not closed", f"add {close}")
            wanted += close
        return _unexpected(text, at, wanted)


def _integer(said: str) -> float:
    """Return an integer; infinity if it is larger than any double."""
    size = float(said)
    return size if math.isinf(size) else int(said)


def _fraction(said: str) -> float:
    """Return a number; infinity if its exponent is too large."""
    number, _, exponent = said.lower().partition("e")
    is_large = float(exponent or 0) > _LARGEST_EXPONENT + len(number.partition(".")[2])
    return math.inf if is_large else float(said)


def _unexpected(text: str, at: int, wanted: str) -> NotJson:
    rest = text[at : at + 2]
    if not rest or rest[0] == "\0":
        return NotJson(at, f"the text ends where {wanted} is needed")
    if rest in ("//", "/*") or rest[0] == "#":
        return NotJson(at, "a comment", "JSON has none: delete it")
    if rest[0] == "'":
        return NotJson(at, "single quotes", 'write "')
    word = _WORD.match(text, at)
    said = rest[0] if word is None else word.group()
    return NotJson(at, f"{said!r} where {wanted} is needed", f"write {said.lower()}" if said.lower() in _WORDS else "")


def _check_keys(node: Node, length: int) -> None:
    """Refuse a path of keys that is too long; ``length`` is the length of the keys that lead to a value."""
    for member in node.members:
        below = length + len(member.key)
        if below > _LONGEST_KEYS:
            message = f"the path of keys to this place has more than {_LONGEST_KEYS} characters"
            raise NotJson(member.start, message, "use shorter keys: every known key is much shorter")
        _check_keys(member.node, below)
    for item in node.items:
        _check_keys(item, length)

"""Strict JSON, and templates of it: a text as a tree of nodes with their places, including keys that are given twice.

The vendor's parser accepts only plain JSON: no comments, no byte order mark, no trailing commas, no NaN (measured).
In a template, JSON with placeholders, each placeholder is read as a text.
"""

from __future__ import annotations

import codecs
import functools
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, Place, ProfileError
from htppower.profiles.paths import TEMPLATES, joined
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, NotRegular, read_regular_file
from htppower.tools.extensions.json_parser import Kind, NotJson, parse

if TYPE_CHECKING:
    import os

    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_parser import Member, Node

# {{X}}, ${X}, $X, <X>, @X@, %X%, and ERB's <%= X %>. Each is short and has no bracket of its own inside, so that any
# text is searched quickly.
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]{0,200}\}\}|\$\{[^{}\n]{0,200}\}|\$[A-Za-z_]\w{0,100}|<%=[^%]{0,200}%>|<[A-Za-z_][\w. -]{0,100}>"
    r"|@[A-Za-z_][\w.-]{0,100}@|%[A-Za-z_][\w.-]{0,100}%"
)
# Statements of Jinja, Mustache and ERB, and their comments: these have no value.
_STATEMENT = re.compile(r"\{%[^%]{0,500}%\}|\{#[^#]{0,2000}#\}|\{\{[#/^!>][^{}]{0,200}\}\}|<%(?!=)[^%]{0,500}%>")
# A text, maybe without its closing quote; a comma that a loop leaves; a lone placeholder, or a word in capitals.
_PARTS = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\.)*"?)|(?P<comma>,(?=\s*[\]}]))'
    rf"|(?:{_PLACEHOLDER.pattern}|\b[A-Z][A-Z0-9_]{{2,100}}\b)+"
)
_MARK = codecs.BOM_UTF8.decode()


def is_template(path: str) -> bool:
    """Return whether the name of a file marks it as a template."""
    return path.lower().endswith(TEMPLATES)


def has_statements(text: str) -> bool:
    """Return whether a template has statements that determine its content, so that the result is unknown."""
    return _STATEMENT.search(text) is not None


def _placeholder_in(text: str, start: int, end: int) -> str:
    """Return the placeholder or statement in a part of a template; empty without one."""
    found = _PLACEHOLDER.search(text, start, end) or _STATEMENT.search(text, start, end)
    if found is not None:
        return found[0]
    # A word in capitals has no quotes.
    return "" if text.startswith('"', start) else text[start:end]


def filled(text: str) -> str:
    """Return a template as JSON of the same length: a lone placeholder becomes a text, a statement becomes spaces."""
    return _PARTS.sub(_instead, _STATEMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _instead(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return found[0]
    return _blank(found) if found["comma"] is not None else f'"{"x" * (len(found[0]) - 2)}"'


@attrs.frozen(repr=False, eq=False)
class PlacedText:
    """A text, with the places of its characters; ``path`` is its file, or its name in messages."""

    path: str
    text: str

    def place(self, offset: int) -> Place:
        """Return the line and column of a character of the text."""
        line = bisect_right(self._line_starts, offset)
        return Place(self.path, line, offset - self._line_starts[line - 1] + 1)

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]


@attrs.frozen(repr=False, eq=False)
class JsonText(PlacedText):
    """A text and its tree.

    The text is without a byte order mark. A byte that is not UTF-8 becomes a lone surrogate, so that writing the text
    gives the same bytes.

    Attributes:
        root: the tree; None if the text is not JSON.
        problem: why it is not JSON, or None.
        byte_order_mark: whether the file begins with the byte order mark of UTF-8.
        ends_at: the offset of a NUL character after the root, where a parser in C ends the text; None without a NUL.
    """

    root: Node | None
    problem: Finding | None
    byte_order_mark: bool = False
    ends_at: int | None = None

    def encoded(self) -> bytes:
        """Return the bytes of the file."""
        mark = codecs.BOM_UTF8 if self.byte_order_mark else b""
        return mark + self.text.encode("utf-8", "surrogateescape")

    def placeholder(self, node: Node | Member) -> str:
        """Return the placeholder in a text or a key of a template; empty without a placeholder."""
        if not is_template(self.path) or getattr(node, "kind", Kind.TEXT) is not Kind.TEXT:
            return ""
        return _placeholder_in(self.text, node.start, node.end)

    def at(self, keys: KeyPath) -> Node | None:
        """Return the value at a path of keys, list items by their index; None if it does not exist."""
        node = self.root
        for key in keys:
            if node is None:
                return None
            if node.kind is Kind.LIST:
                node = node.items[int(key)] if key.isdecimal() and int(key) < len(node.items) else None
            else:
                node = node.get(key)
        return node

    def accepted(self) -> Node:
        """Return the tree.

        Raises:
            ProfileError: the text is not JSON.
        """
        if self.root is not None:
            return self.root
        raise ProfileError([] if self.problem is None else [self.problem])


def read_json(path: str | os.PathLike[str]) -> JsonText:
    """Return the content of a file; if it can't be read, is over 1 MiB or is not JSON, ``problem`` says so."""
    name = str(path)
    try:
        data = read_regular_file(joined(path))
    except NotRegular as error:
        return _unread(name, "FILE-1", f"is {error}", "name a file")
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return _unread(name, "FILE-1", f"can't be read: {said}", "check the path and permissions")
    return parse_json(data, name)


def parse_json(data: bytes | str, path: str = "-") -> JsonText:
    """Return the tree of a text; if it is not JSON or is larger than 1 MiB, ``problem`` says so."""
    if len(data) > LARGEST_FILE_BYTES:
        return _unread(path, "FILE-2", "larger than 1 MiB", "an extension file has some 40 lines")
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    marked = text.startswith(_MARK)
    text = text.removeprefix(_MARK)
    try:
        root, ends_at = parse(filled(text) if is_template(path) else text)
    except NotJson as error:
        broken = JsonText(path, text, None, None, marked)
        finding = Finding("JSON-1", (), error.message, error.hint, place=broken.place(error.offset))
        return attrs.evolve(broken, problem=finding)
    return JsonText(path, text, root, None, marked, ends_at)


def _unread(path: str, rule: str, message: str, hint: str) -> JsonText:
    return JsonText(path, "", None, Finding.of_file(path, rule, message, hint))

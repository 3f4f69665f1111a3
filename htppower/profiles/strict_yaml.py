"""Strict YAML: reads a file into a plain tree in which every value has its place.

Ambiguous YAML is refused: a key given twice, a word that YAML 1.1 and 1.2 read differently (``on``, ``010``,
``12:30:45``), a tag, a merge key, an alias that expands without limit. Each is a problem with line and column. PyYAML
alone accepts all of them, so only its parser is used, which yields events; the tree is built here.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

import attrs
import yaml

from htppower.errors import Finding, Place, located, place_of, shortened
from htppower.profiles.file_format import meant
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, NotRegular, file_version, read_regular_file
from htppower.profiles.yaml_words import TOO_LARGE, UNREADABLE, Unreadable, read_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.errors import KeyPath
    from htppower.profiles.regular_file import FileVersion

# A profile has about 40 values. With aliases expanded, a file may hold at most this many.
MOST_VALUES = 2000
DEEPEST_NESTING = 20

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_YAML: re.Pattern[str] = yaml.reader.Reader.NON_PRINTABLE
# The parser reports an unclosed quote, bracket or key far behind its beginning, but users need the beginning.
_OPENED_AT = r"quoted scalar|flow (sequence|mapping)|simple key"


@attrs.frozen(repr=False, eq=False, slots=False)
class Document:
    """A file as a plain tree.

    Attributes:
        path: the file.
        tree: mappings, sequences, str, int, float, bool and None; ``UNREADABLE`` in place of a value with a problem.
        places: the place of every value, by its keys.
        key_places: the place of every key, by its keys.
        problems: its problems as YAML.
        version: the file's version, taken before it was read.
    """

    path: str
    tree: Any
    places: dict[KeyPath, Place]
    key_places: dict[KeyPath, Place]
    problems: tuple[Finding, ...]
    version: FileVersion | None

    def located(self, finding: Finding) -> Finding:
        """Return a finding with its place."""
        return located(finding, self.path, self.places, self.key_places)

    def place(self, at: KeyPath) -> Place:
        """Return the place of a value; if it comes from an alias or is missing, the place of the value around it."""
        return place_of((at,), self.places, self.path)


def read_document(path: str, kind: str = "profile", given: bytes | None = None) -> Document:
    """Read a file that should contain a profile, state or test; problems are in the document, not raised.

    If its content is ``given``, no file is read.
    """
    reader = _Reader(path, kind)
    tree: Any = UNREADABLE
    version = file_version(path) if given is None else None
    try:
        tree = reader.document(_read_text(path, reader.path, given))
    except _Unparsable as error:
        reader.problems.append(error.problem)
    return Document(path, tree, reader.places, reader.key_places, tuple(reader.problems), version)


class _Unparsable(Exception):  # noqa: N818 - never leaves this file
    """A file that can't be turned into a tree."""

    def __init__(self, place: Place, rule: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.problem = Finding(rule, (), message, hint, place=place)


def _read_text(path: str, name: str, given: bytes | None) -> str:
    nowhere = Place(name)
    try:
        data = read_regular_file(path) if given is None else given
    except NotRegular as error:
        raise _Unparsable(nowhere, "FILE-1", f"is {error}", "name a file") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _Unparsable(nowhere, "FILE-1", f"can't be read: {said}", "check the path and permissions") from None
    if len(data) > LARGEST_FILE_BYTES:
        raise _Unparsable(nowhere, "FILE-2", "larger than 1 MiB", "a profile has some 40 lines")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            hint = "save the file as UTF-8; > in PowerShell 5 writes UTF-16"
            raise _Unparsable(_at_end(name, ""), "FILE-3", "saved as UTF-16", hint) from None
        before = data[: error.start].decode("utf-8", "replace")
        raise _Unparsable(_at_end(name, before), "FILE-3", "not UTF-8", "save the file as UTF-8") from None
    strange = _NOT_YAML.search(text)
    if strange is not None:
        message = f"the character {strange.group()!r} is not allowed in YAML"
        raise _Unparsable(_at_end(name, text[: strange.start()]), "YAML-1", message, "delete it")
    return text


def _at_end(name: str, before: str) -> Place:
    return Place(name, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


def _is_tab(text: str, place: Place) -> bool:
    line = text.splitlines()[place.line - 1 : place.line]
    return bool(line) and line[0][place.column - 1 : place.column] == "\t"


class _Reader:
    """Turns the parser's events into a tree, and collects places and problems on the way."""

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.places: dict[KeyPath, Place] = {}
        self.key_places: dict[KeyPath, Place] = {}
        self.problems: list[Finding] = []
        # Returns the parser's next event, or None after the last.
        self._next: Callable[[], Any]
        # Values that an alias may repeat, and how many values each contains.
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def document(self, text: str) -> Any:
        """Return the tree of a text.

        Raises:
            _Unparsable: it is not well-formed, or too large.
        """
        tree: Any = UNREADABLE
        documents = 0
        try:
            self._next = _Loader(text).get_event
            while (event := self._next()) is not None:
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        raise _Unparsable(self._place(event), "YAML-1", "a second document", f"one {self.kind} a file")
                    tree = self._value(self._next(), ())
        except yaml.MarkedYAMLError as error:
            raise self._not_well_formed(error, text) from None
        if documents and isinstance(tree, (dict, Unreadable)):
            return tree
        self.places.clear()
        self._problem(Place(self.path, 1, 1), "YAML-1", "the file is not a mapping", f"start with '{self.kind}: NAME'")
        return UNREADABLE

    def _not_well_formed(self, error: yaml.MarkedYAMLError, text: str) -> _Unparsable:
        said = " ".join(part for part in (error.context, error.problem) if part)
        opened = error.context_mark if re.search(_OPENED_AT, error.context or "") else None
        mark = opened or error.problem_mark or error.context_mark
        place = Place(self.path, 1, 1) if mark is None else Place(self.path, mark.line + 1, mark.column + 1)
        hint = "write 'key: value', with a space after the colon, and indent with spaces"
        if _is_tab(text, place):
            said, hint = "a tab", "indent with spaces"
        return _Unparsable(place, "YAML-1", f"not well-formed YAML: {said}", hint)

    def _value(self, event: Any, at: KeyPath) -> Any:
        place = self.places[at] = self._place(event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, place)
        self._count(1, place, "YAML-1", "holds too many values")
        before = self._values
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event, place, at)
        else:
            if len(at) >= DEEPEST_NESTING:
                raise _Unparsable(place, "YAML-1", f"nested deeper than {DEEPEST_NESTING} levels")
            is_sequence = isinstance(event, yaml.SequenceStartEvent)
            value = self._sequence(at) if is_sequence else self._mapping(at)
            if event.tag is not None:
                value = self._tag(event.tag, place)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._values - before + 1)
        return value

    def _alias(self, event: Any, place: Place) -> Any:
        if event.anchor not in self._anchors:
            # A refused alias counts, too: it takes time, and adds a finding.
            self._count(1, place, "YAML-1", "holds too many values")
            message = f"the alias *{shortened(event.anchor)} refers to itself, or to nothing before it"
            return self._problem(place, "YAML-4", message, "write the value out")
        value, size = self._anchors[event.anchor]
        self._count(size, place, "YAML-4", "expands through its aliases to too many values")
        return value

    def _count(self, values: int, place: Place, rule: str, what: str) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise _Unparsable(place, rule, f"the file {what}: over {MOST_VALUES}", "write only what it needs")

    def _sequence(self, at: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, (*at, str(len(items)))))
        return items

    def _mapping(self, at: KeyPath) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            place = self._place(event)
            key = self._key(event, place, at)
            if key is None:
                self._skip(at)
                continue
            path = (*at, key)
            if key in tree:
                first = self.key_places[path].line
                self._problem(place, "YAML-2", f"the key {shortened(key)!r} is given twice", f"first in line {first}")
                self._skip(at)
                continue
            self.key_places[path] = place
            tree[key] = self._value(self._next(), path)
        return tree

    def _skip(self, at: KeyPath) -> None:
        """Read a value whose key has a problem: keep the problems of the value, but no places."""
        places, key_places = self.places, self.key_places
        self.places, self.key_places = {}, {}
        self._value(self._next(), (*at, ""))
        self.places, self.key_places = places, key_places

    def _key(self, event: Any, place: Place, at: KeyPath) -> str | None:
        if not isinstance(event, yaml.ScalarEvent):
            if not isinstance(event, yaml.AliasEvent):
                self._value(event, (*at, ""))
            self._problem(place, "TYPE-1", "a key is a plain word", "name a field")
            return None
        if not event.style and event.value == "<<":
            self._problem(place, "YAML-5", "merge keys are not allowed", "use extends: NAME")
            return None
        value = self._scalar(event, place)
        if isinstance(value, str):
            return value
        if value is not UNREADABLE:
            self._problem(place, "TYPE-1", f"the key {shortened(event.value)!r} is not a plain word", "name a field")
        return None

    def _scalar(self, event: Any, place: Place, at: KeyPath | None = None) -> Any:
        """Return the value at a path of keys, or a key itself."""
        if event.tag is not None:
            return self._tag(event.tag, place)
        if event.style:
            return event.value
        value = read_word(event.value)
        if value is TOO_LARGE:
            return self._problem(place, "VALUE-1", "the number is too large for any field", "see the field's range")
        if value is UNREADABLE:
            hint = "quote the key, or name a field" if at is None else meant(event.value, self.kind, at)
            self._problem(place, "YAML-3", f"YAML parsers read {shortened(event.value)!r} differently", hint)
        return value

    def _tag(self, tag: str, place: Place) -> Any:
        return self._problem(place, "YAML-5", f"the tag {shortened(tag)} is not allowed", "omit the tag")

    def _problem(self, place: Place, rule: str, message: str, hint: str) -> Any:
        self.problems.append(Finding(rule, (), message, hint, place=place))
        return UNREADABLE

    def _place(self, event: Any) -> Place:
        mark = event.start_mark
        return Place(self.path, mark.line + 1, mark.column + 1)

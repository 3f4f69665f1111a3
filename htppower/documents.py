"""Strict YAML: one file to a plain tree in which every value knows its place.

YAML is read for what its author meant, or refused: a key given twice, a word that YAML 1.1 and 1.2 read differently
(``on``, ``010``, ``12:30:45``), a tag, a merge key, an alias that explodes are problems, each with line and column.
PyYAML alone lets all of them pass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs
import yaml

from htppower.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from htppower.cases import Path

LARGEST_FILE_BYTES = 1024 * 1024
# A profile has some 40 nodes; aliases may not unfold a file to more than this.
MOST_NODES = 2000
DEEPEST_NESTING = 20
# Longer digits are no number of any vote, and would be slow to convert.
_LONGEST_NUMBER = 20

_TAG: Final = "tag:yaml.org,2002:"
_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")
# Plain words that YAML 1.1 reads as text, as PyYAML does, but YAML 1.2 as a number; and y and n, which YAML 1.1 reads
# as booleans although PyYAML does not.
_READ_DIFFERENTLY = re.compile(r"0o[0-7]+|[-+]?[0-9]+([eE][-+]?[0-9]+)|[yYnN]")

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER = yaml.SafeLoader("")


class _Unreadable:
    """Stands for a value that is already reported as a problem."""


UNREADABLE = _Unreadable()
_TOO_LARGE = _Unreadable()


@attrs.frozen
class Place:
    """Where a value stands: file, 1-based line and column."""

    path: str
    line: int
    column: int


@attrs.frozen(repr=False, eq=False)
class Document:
    """A file as a plain tree.

    Attributes:
        path: the file.
        tree: mappings, sequences, str, int, float, bool and None; ``UNREADABLE`` where there is a problem.
        places: the place of every value, by the keys that lead to it.
        key_places: the place of every key, by the keys that lead to it.
        problems: what is wrong with it as YAML.
    """

    path: str
    tree: Any
    places: dict[Path, Place]
    key_places: dict[Path, Place]
    problems: tuple[Problem, ...]


def read_document(path: FilePath) -> Document:
    """Read a file; what is wrong with it is in the document's problems, not raised."""
    name = str(path)
    text, problem = _read_text(path, name)
    if problem is None:
        node, problem = _compose(text, name)
    if problem is not None:
        return Document(name, UNREADABLE, {}, {}, (problem,))
    reader = _Reader(name)
    tree = reader.value(node, ())
    if not isinstance(tree, dict) and tree is not UNREADABLE:
        reader.problem(node, "YAML-1", "the file holds no mapping", "start with 'profile: NAME'")
    return Document(name, tree, reader.places, reader.key_places, tuple(reader.problems))


def _read_text(path: FilePath, name: str) -> tuple[str, Problem | None]:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        return "", Problem(name, 0, 0, "FILE-1", f"can't be read: {error.strerror}", "check the path and permissions")
    if len(data) > LARGEST_FILE_BYTES:
        return "", Problem(name, 0, 0, "FILE-2", "larger than 1 MiB", "a profile has some 40 lines")
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line, column = _line_and_column(before, len(before))
        return "", Problem(name, line, column, "FILE-3", "not UTF-8", "save the file as UTF-8")


def _compose(text: str, name: str) -> tuple[yaml.Node | None, Problem | None]:
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_NESTING:
                place = _place(name, event.start_mark)
                message = f"nested deeper than {DEEPEST_NESTING} levels"
                return None, Problem(name, place.line, place.column, "YAML-1", message)
        return yaml.compose(text, Loader=_Loader), None
    except yaml.MarkedYAMLError as error:
        place = _place(name, error.problem_mark or error.context_mark)
        said = " ".join(part for part in (error.context, error.problem) if part)
        rule = "YAML-4" if "alias" in said else "YAML-1"
        return None, Problem(name, place.line, place.column, rule, f"not well-formed YAML: {said}")
    except yaml.reader.ReaderError as error:
        line, column = _line_and_column(text, error.position)
        message = f"not well-formed YAML: the character {error.character!r} is not allowed"
        return None, Problem(name, line, column, "YAML-1", message)


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


class _Reader:
    """Turns nodes into a tree, and collects places and problems on the way."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.places: dict[Path, Place] = {}
        self.key_places: dict[Path, Place] = {}
        self.problems: list[Problem] = []
        self._nodes = 0
        self._open: list[yaml.Node] = []

    def problem(self, node: yaml.Node | None, rule: str, message: str, hint: str = "") -> None:
        place = _place(self.path, node and node.start_mark)
        self.problems.append(Problem(place.path, place.line, place.column, rule, message, hint))

    def value(self, node: yaml.Node | None, at: Path) -> Any:
        self.places[at] = _place(self.path, node and node.start_mark)
        if node is None:
            return None
        self._nodes += 1
        if node in self._open or self._nodes > MOST_NODES:
            if self._nodes <= MOST_NODES + 1:
                self.problem(node, "YAML-4", "an alias that explodes or holds itself", "write the values out")
            self._nodes = MOST_NODES + 1
            return UNREADABLE
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            self.problem(node, "YAML-5", f"the tag {node.tag} is not allowed", "leave the tag out")
            return UNREADABLE
        self._open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, (*at, str(index))) for index, item in enumerate(node.value)]
            return self._mapping(node, at)
        finally:
            self._open.pop()

    def _mapping(self, node: yaml.Node, at: Path) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key is None:
                continue
            path = (*at, key)
            if key in tree:
                first = self.key_places[path].line
                self.problem(key_node, "YAML-2", f"the key {key!r} is given twice", f"first in line {first}")
                continue
            self.key_places[path] = _place(self.path, key_node.start_mark)
            tree[key] = self.value(value_node, path)
        return tree

    def _key(self, node: yaml.Node) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self.problem(node, "TYPE-1", "a key is a plain word")
            return None
        if node.tag == _TAG + "merge":
            self.problem(node, "YAML-5", "merge keys are not allowed", "use extends: NAME")
            return None
        value = self._scalar(node)
        if value is UNREADABLE:
            return None
        if not isinstance(value, str):
            self.problem(node, "TYPE-1", f"the key {node.value!r} is no plain word")
            return None
        return value

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = node.value
        plain = not node.style  # None from the parser in Python, "" from the one in C
        if not plain and node.tag == _TAG + "str":
            return text
        implied: str = _RESOLVER.resolve(yaml.ScalarNode, text, (plain, not plain))  # type: ignore[no-untyped-call]
        if node.tag != implied:
            self.problem(node, "YAML-5", f"the tag {node.tag} is not allowed", "leave the tag out")
            return UNREADABLE
        value = _read_word(text, implied.removeprefix(_TAG))
        if value is UNREADABLE:
            hint = _meant(text, implied.removeprefix(_TAG))
            self.problem(node, "YAML-3", f"{text!r} is read as different things by YAML 1.1 and 1.2", hint)
        elif value is _TOO_LARGE:
            self.problem(node, "VALUE-1", "the number is too large")
            return UNREADABLE
        return value


def _read_word(text: str, kind: str) -> Any:
    """Return what every YAML reads in a plain word, given its kind by YAML 1.1; UNREADABLE where they differ."""
    if kind == "bool" and text in {"true", "false"}:
        return text == "true"
    if kind == "int" and _INT.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_NUMBER else _TOO_LARGE
    if kind == "float" and _FLOAT.fullmatch(text):
        return float(text)
    if kind == "null" and text in {"", "~", "null"}:
        return None
    return text if kind == "str" and not _READ_DIFFERENTLY.fullmatch(text) else UNREADABLE


def _place(path: str, mark: Any) -> Place:
    """Return a place from a parser's mark; the start of the file where it gives none."""
    return Place(path, 1, 1) if mark is None else Place(path, mark.line + 1, mark.column + 1)


def _meant(text: str, kind: str) -> str:
    if kind == "bool" or text.lower() in {"y", "n"}:
        word = "true" if text.lower() in {"yes", "on", "true", "y"} else "false"
        return f"write {word}, or quote the word"
    if kind in {"int", "float", "str"}:
        return "write a decimal number, or quote the word"
    return "quote the word"

"""Settings in YAML and notebooks, and in the texts of any JSON: what these hold is read as JSON, or as code, is."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import attrs
import yaml

from htppower.errors import Finding, Place
from htppower.extensions.json_nodes import Kind, Member, Node
from htppower.runtimes.command_lines import FLAGS, SPOKEN
from htppower.runtimes.json_settings import OPTIONS_OBJECT, of_objects
from htppower.runtimes.statements import Said, Statement, Text
from htppower.runtimes.text_settings import joined, said_by_part
from htppower.runtimes.tokens import ANY, SHELL

if TYPE_CHECKING:
    from collections.abc import Iterator

YAML_RULE = "YAML-1"
NOTEBOOK = "a notebook"
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 50
_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)


class _Unreadable(Exception):  # noqa: N818 - never leaves this file
    """YAML that is nested too deep."""


def said_by_yaml(given: str, path: str) -> Said:
    """Return what YAML says of settings that vote, also in the commands that stand in it."""
    text = Text(given, path)
    try:
        roots = list(_documents(given))
    except _Unreadable as error:
        return Said(problems=(Finding.of_file(path, YAML_RULE, f"not read as YAML: {error}", "check its syntax"),))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = Place(path) if mark is None else Place(path, mark.line + 1, mark.column + 1)
        message = f"not read as YAML: {getattr(error, 'problem', None) or 'a character that it does not allow'}"
        return Said(problems=(Finding(YAML_RULE, (), message, "check its syntax", place=place),))
    statements = tuple(each for root in roots for each in of_objects(text, root, (), None))
    parts = [each for root in roots for each in said_by_texts(text, root)]
    return joined([Said(statements, form=OPTIONS_OBJECT if statements else ""), *parts])


def _documents(given: str) -> Iterator[Node]:
    """Yield the documents; what an alias repeats has been read where it stands."""
    # For each open collection its event, and what it holds so far.
    stack: list[tuple[Any, list[Node]]] = []
    for event in yaml.parse(given, Loader=_Loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(stack) == _DEEPEST:
                raise _Unreadable(f"nested deeper than {_DEEPEST}")
            stack.append((event, []))
            continue
        node = None
        if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            opened, items = stack.pop()
            node = _collection(opened, event, items)
        elif isinstance(event, yaml.ScalarEvent):
            node = _scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            node = Node(Kind.NULL, 0, 0)
        if node is not None and stack:
            stack[-1][1].append(node)
        elif node is not None:
            yield node


def _collection(opened: Any, closed: Any, items: list[Node]) -> Node:
    span = opened.start_mark.index, closed.end_mark.index
    if isinstance(opened, yaml.SequenceStartEvent):
        return Node(Kind.LIST, *span, items=tuple(items))
    pairs = zip(items[::2], items[1::2], strict=True)
    return Node(
        Kind.OBJECT, *span, members=tuple(Member(str(key.value), key.start, key.end, value) for key, value in pairs)
    )


def _scalar(event: Any) -> Node:
    value, kind = event.value, Kind.TEXT
    if event.style is None and event.implicit[0]:
        if value in ("", "~", "null"):
            value, kind = None, Kind.NULL
        elif value in ("true", "false"):
            value, kind = value == "true", Kind.BOOL
        elif len(value) <= 20 and _WHOLE.fullmatch(value):  # noqa: PLR2004
            value, kind = int(value), Kind.INTEGER
    return Node(kind, event.start_mark.index, event.end_mark.index, value)


def said_by_texts(text: Text, node: Node) -> Iterator[Said]:
    """Yield what the texts of a tree say that are command lines, and lists of a command's words."""
    if node.kind is Kind.TEXT and SPOKEN.search(text.text, node.start, node.end) is not None:
        yield said_by_part(text, node.start, node.end, SHELL)
    for word, value in itertools.pairwise(node.items):
        name = str(word.value).lstrip("-")
        if name in FLAGS and name != word.value and value.kind is Kind.TEXT:
            places = text.place(word.start), text.place(value.start)
            yield Said((Statement(FLAGS[name], name, str(value.value), *places),), form=OPTIONS_OBJECT)
    for each in (*node.items, *(member.node for member in node.members)):
        yield from said_by_texts(text, each)


def said_by_notebook(text: Text, root: Node) -> Said | None:
    """Return what the code of a notebook says; None where JSON is no notebook."""
    cells = root.get("cells")
    if cells is None or root.get("nbformat") is None:
        return None
    found = joined([_of_cell(text, cell, f"cell {number}") for number, cell in enumerate(cells.items)])
    return attrs.evolve(found, form=NOTEBOOK)


def _of_cell(text: Text, cell: Node, name: str) -> Said:
    kind, source = cell.get("cell_type"), cell.get("source")
    if kind is None or kind.value != "code" or source is None:
        return Said()
    lines = source.items or (source,)
    code = "".join(str(line.value) for line in lines)
    found = said_by_part(Text(code, text.path), 0, len(code), ANY)
    written = code.split("\n")

    def placed(place: Place) -> Place:
        # A source in one text has all its lines in one line of the file.
        line = lines[min(place.line, len(lines)) - 1]
        before = "\n".join(written[: place.line - 1]) + "\n" if len(lines) == 1 and place.line > 1 else ""
        before += written[place.line - 1][: place.column - 1]
        return text.place(line.start + len(json.dumps(before, ensure_ascii=False)) - 1)

    return attrs.evolve(
        found,
        statements=tuple(
            attrs.evolve(each, place=placed(each.place), key_place=placed(each.key_place), group=(name, *each.group))
            for each in found.statements
        ),
        open_values=tuple((key, placed(place)) for key, place in found.open_values),
        without_mode=tuple(map(placed, found.without_mode)),
    )

"""Settings in YAML, notebooks, Markdown, and in the texts of any JSON; their parts are read as JSON or code."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import attrs
import yaml

from htppower.errors import Finding, Place
from htppower.tools.extensions.json_parser import Kind, Member, Node
from htppower.tools.runtimes.command_lines import FLAGS, SPOKEN
from htppower.tools.runtimes.json_settings import OPTIONS_OBJECT, of_objects
from htppower.tools.runtimes.statements import Said, Statement
from htppower.tools.runtimes.text_settings import Code, joined, said_by_part
from htppower.tools.runtimes.tokens import ANY, SHELL, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

YAML_RULE = "YAML-1"
NOTEBOOK = "a notebook"
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 50
_FENCE = re.compile(r"^[ \t]{0,8}(?P<fence>```|~~~)[`~]*[ \t]*\{?\.?(?P<word>[\w+#]*)[^\n]*\n?", re.MULTILINE)
# The closing fence may be indented, too.
_CLOSES = {each: re.compile(rf"^[ \t]{{0,8}}{each}[`~]*[ \t]*$", re.MULTILINE) for each in ("```", "~~~")}
# In a longer line, the place is only approximate: an exact one would need a search of the whole line.
_LONGEST_LINE = 10_000
_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)


def said_by_yaml(given: str, path: str) -> Said:
    """Return the voting settings in YAML, including those in its commands."""
    text = Code(path, given)
    try:
        roots = list(_documents(given))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = Place(path) if mark is None else Place(path, mark.line + 1, mark.column + 1)
        message = f"not read as YAML: {getattr(error, 'problem', None) or 'a character that it does not allow'}"
        return Said(problems=(Finding(YAML_RULE, (), message, "check its syntax", place=place),))
    statements = tuple(each for root in roots for each in of_objects(text, root, (), None))
    parts = [each for root in roots for each in said_by_texts(text, root)]
    return joined([Said(statements, form=OPTIONS_OBJECT if statements else ""), *parts])


def _documents(given: str) -> Iterator[Node]:
    """Yield the documents. An alias is not expanded: its anchor was read already."""
    # For each open collection: its event, and its items so far.
    stack: list[tuple[Any, list[Node]]] = []
    for event in yaml.parse(given, Loader=_Loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(stack) == _DEEPEST:
                raise yaml.MarkedYAMLError(problem=f"nested deeper than {_DEEPEST}")
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


def said_by_texts(text: Code, node: Node) -> Iterator[Said]:
    """Yield the settings in the command lines of a tree.

    A command line is one text, or a list with a text for each of its words.
    """
    if node.kind is Kind.TEXT and SPOKEN.search(text.text, node.start, node.end) is not None:
        yield said_by_part(text, node.start, node.end, SHELL)
    for word, value in itertools.pairwise(node.items):
        name = str(word.value).lstrip("-")
        if name in FLAGS and name != word.value and value.kind is Kind.TEXT:
            places = text.place(word.start), text.place(value.start)
            yield Said((Statement(FLAGS[name], name, str(value.value), *places),), form=OPTIONS_OBJECT)
    for each in (*node.items, *(member.node for member in node.members)):
        yield from said_by_texts(text, each)


def said_by_notebook(text: Code, root: Node) -> Said | None:
    """Return the settings in the code of a notebook; None if the JSON is not a notebook."""
    cells = root.get("cells")
    if cells is None or root.get("nbformat") is None:
        return None
    found = joined([_of_cell(text, cell, f"cell {number}") for number, cell in enumerate(cells.items)])
    return attrs.evolve(found, form=NOTEBOOK)


def _of_cell(text: Code, cell: Node, name: str) -> Said:
    kind, source = cell.get("cell_type"), cell.get("source")
    if kind is None or kind.value != "code" or source is None:
        return Said()
    code = "".join(str(line.value) for line in source.items or (source,))
    lines = code.split("\n")
    # The start of each line: the first character of a text with one line, or of a line in a text with all lines.
    starts = [line.start + 1 for line in source.items] or [
        *itertools.accumulate((_written(f"{line}\n") for line in lines), initial=source.start + 1)
    ]

    def placed(place: Place) -> Place:
        before = lines[place.line - 1][: min(place.column - 1, _LONGEST_LINE)]
        return text.place(starts[min(place.line, len(starts)) - 1] + _written(before))

    return _moved(said_by_part(Code(text.path, code), 0, len(code), ANY), placed, name)


def _written(line: str) -> int:
    """Return the length of a text in JSON, without its quotes."""
    return len(json.dumps(line, ensure_ascii=False)) - 2


def said_by_markdown(given: str, path: str) -> Said:
    """Return the settings in the code blocks of a Markdown text."""
    text = Code(path, given)
    parts, at = [], 0
    while (opened := _FENCE.search(given, at)) is not None:
        start = opened.end()
        closed = _CLOSES[opened["fence"]].search(given, start)
        end, at = (len(given), len(given)) if closed is None else closed.span()
        if opened["word"].lower() in ("yaml", "yml"):
            of_block = attrs.evolve(said_by_yaml(given[start:end], path), problems=())
            parts.append(_below(of_block, text.place(start).line - 1))
        else:
            parts.append(said_by_part(text, start, end, named(opened["word"])))
    return joined(parts)


def _below(found: Said, lines: int) -> Said:
    """Return the settings of a block with this many lines above it."""
    return _moved(found, lambda place: Place(place.path, place.line + lines, place.column), f"block {lines}")


def _moved(found: Said, placed: Callable[[Place], Place], name: str) -> Said:
    """Return the settings of a part that was read separately, with their places in the whole file."""
    return attrs.evolve(
        found,
        statements=tuple(
            attrs.evolve(each, place=placed(each.place), key_place=placed(each.key_place), group=(name, *each.group))
            for each in found.statements
        ),
        open_values=tuple((key, placed(place)) for key, place in found.open_values),
        without_mode=tuple(map(placed, found.without_mode)),
    )

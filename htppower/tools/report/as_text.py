"""Blocks as text for a terminal, styled, in lines of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.tools.report.blocks import Bars, Code, Heading, Lines, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH, aligned, labelled, padded, shown_width, table, wrapped
from htppower.tools.report.styled import styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.tools.report.blocks import Block

_INDENT = "  "
_BAR_LEAST, _BAR_MOST = 10, 40
_LINES_OF_TEXT = (Paragraph, Pairs)


def as_text(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """Return the blocks. An empty line is between two of them, except below a heading and between lines of text."""
    whole: list[str] = []
    before: Block | None = None
    for block in blocks:
        lines = list(_lines(block, width))
        if lines:
            whole += lines if before is None or _are_joined(before, block) else ["", *lines]
            before = block
    return "\n".join(whole)


def _are_joined(before: Block, block: Block) -> bool:
    if isinstance(before, Heading) or isinstance(block, Heading):
        return not isinstance(block, Heading)
    return isinstance(before, _LINES_OF_TEXT) and isinstance(block, _LINES_OF_TEXT)


def _lines(block: Block, width: int) -> Iterator[str]:
    match block:
        case Heading():
            yield from (styled(line, "bold") for line in wrapped(block.text, width, _INDENT))
        case Paragraph():
            yield from wrapped(block.text, width)
        case Pairs():
            yield from _pairs(block, width)
        case Table():
            yield from _table(block, width)
        case Bars():
            yield from _bars(block, width)
        case Code():
            yield from map(printable, block.text.splitlines())
        case Lines():
            yield from block.draw(width)
        case Picture():
            pass


def _pairs(pairs: Pairs, width: int) -> Iterator[str]:
    for label, text in pairs.rows:
        style = pairs.styles.get(label)
        parts = text.split("\n")
        for part in parts:
            # The rest of a wrapped part is indented, so that it is not read as the next part.
            for line in labelled(label, part, width, indent=_INDENT if len(parts) > 1 else ""):
                yield styled(line, style) if style else line
            label = ""  # noqa: PLW2901 - the label is only at the first line


def _table(block: Table, width: int) -> Iterator[str]:
    if not block.rows:
        return
    if not block.numbers:
        yield from table(block.head, [tuple(cell.replace("\n", "; ") for cell in row) for row in block.rows], width)
        return
    rows = [block.head, *block.rows]
    widths = [max(map(shown_width, column)) for column in zip(*rows, strict=True)]
    for line in aligned([tuple(map(str.rjust, row, widths)) for row in rows]):
        yield from wrapped(line, width)


def _bars(block: Bars, width: int) -> Iterator[str]:
    """Yield a line for each row, with the bar if there is room, and without columns if not even those fit."""
    if not block.rows:
        return
    rows = [tuple(map(printable, cells)) for cells, _ in block.rows]
    widths = [max(map(shown_width, column)) for column in zip(*rows, strict=True)]
    taken = sum(widths) + len(_INDENT) * len(widths)
    room = min(_BAR_MOST, width - taken)
    for (name, *numbers), (_, share) in zip(rows, block.rows, strict=True):
        line = _INDENT.join((padded(name, widths[0]), *map(str.rjust, numbers, widths[1:])))
        bar = "#" * max(round(share * room), 1 if share > 0 else 0) if room >= _BAR_LEAST else ""
        if shown_width(line) > width:
            yield from wrapped(" ".join((name, *numbers)), width, _INDENT)
        else:
            yield f"{line}{_INDENT}{styled(bar, 'blue')}" if bar else line

"""Blocks as Markdown, for a comment on a pull request. Texts of cells are quoted, so that none can break out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.tools.report.blocks import Bars, Code, Heading, Lines, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.styled import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.report.blocks import Block

# A text that has no meaning in Markdown but its own.
_PLAIN = r"[A-Za-z][A-Za-z0-9 ,.:;()'-]*"


def as_markdown(blocks: Iterable[Block]) -> str:
    """Return the blocks. A heading of level 1 is one of level 3, since a comment has a title of its own."""
    return "\n\n".join(part for block in blocks for part in _parts(block))


def _parts(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"### {_inline(block.text)}" if block.level == 1 else f"**{_inline(block.text)}**"
        case Paragraph():
            yield _inline(block.text)
        case Pairs():
            yield "\n".join(f"- {label}: {_quoted(part)}" for label, text in block.rows for part in text.split("\n"))
        case Table():
            yield _table(block.head, block.rows)
        case Bars():
            rows = [cells for cells, _ in block.rows]
            yield _table([""] * max(map(len, rows)), rows)
        case Code():
            yield _fenced(block.text, block.language)
        case Lines():
            yield _fenced(plain("\n".join(block.draw(WIDTH))), "text")
        case Picture():
            pass


def _inline(text: str) -> str:
    return text if re.fullmatch(_PLAIN, text) else _quoted(text)


def _quoted(text: str) -> str:
    """Return a text of one line as code."""
    text = printable(text)
    fence = _fence(text, 1)
    padded = f" {text} " if text.startswith("`") or text.endswith("`") else text
    return f"{fence}{padded}{fence}".replace("|", "\\|") if text else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [head, ["---"] * len(head), *(list(map(_quoted, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _fenced(text: str, language: str) -> str:
    fence = _fence(text, 3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _fence(text: str, least: int) -> str:
    """Return backticks, more than any run of them in a text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)

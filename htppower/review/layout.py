"""Text in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 100
_LABEL = 10


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a line for each row, with every column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def labelled(label: str, text: str) -> Iterator[str]:
    """Yield the lines of a text beside its label, 100 characters wide at most."""
    import textwrap  # noqa: PLC0415 - slow to import, and a table needs none

    lines = textwrap.wrap(text, WIDTH - _LABEL - 2, break_on_hyphens=False, break_long_words=False) or [""]
    yield f"{label:<{_LABEL}}  {lines[0]}".rstrip()
    for line in lines[1:]:
        yield f"{'':<{_LABEL}}  {line}"

"""Text that fits the width of its output: wrapped, labelled, in tables. Widths count the columns of a terminal.

Every function takes text without styles, and makes it printable, so that a text can't begin a line of its own. It
returns lines of at most ``width`` columns. Styles are added afterwards.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from htppower.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The width of files and pipes, and of terminals that do not report theirs.
WIDTH = 80
_HEIGHT = 24
# Nothing can be laid out in less. A narrower terminal wraps the lines itself.
NARROWEST = 40
LABEL = 10
# The system keeps the size of a terminal in 16 bits.
_MOST_DIGITS = 5
# Shown in a table for a missing value.
NONE = "-"
_GAP = "  "
_BENEATH = "    "
_NARROWEST_PROSE = 24
# A word that is too long is broken after one of these, if possible after one of the first group.
_JOINTS = (" ", "/\\", ",;:=_.-|)")


def terminal_width() -> int:
    """Return the width to print in: ``COLUMNS`` if it is set, or the terminal's, or 80 without a terminal."""
    columns = columns_said()
    if columns:
        return max(NARROWEST, columns)
    try:
        return max(NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH)
    except (AttributeError, OSError, ValueError):
        return WIDTH


def columns_said() -> int:
    """Return the width in ``COLUMNS``; 0 if it is not set."""
    return _said("COLUMNS")


def terminal_height() -> int:
    """Return how many lines the terminal shows: ``LINES`` if it is set, or the terminal's, or 24 without a terminal."""
    lines = _said("LINES")
    if lines:
        return lines
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or _HEIGHT
    except (AttributeError, OSError, ValueError):
        return _HEIGHT


def _said(variable: str) -> int:
    """Return the number in an environment variable; 0 if it is not a possible size of a terminal."""
    said = os.environ.get(variable, "")
    return int(said) if said.isdecimal() and len(said) <= _MOST_DIGITS else 0


def shown_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - most text needs none

    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def padded(text: str, width: int) -> str:
    """Return a text, filled up with spaces to the width."""
    return text + " " * (width - shown_width(text))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return the lines of a text, broken between words if possible. All lines except the first are indented."""
    whole = printable(text)
    if shown_width(whole) <= width and not whole.startswith(" "):
        return [whole.rstrip()]
    said = text.lstrip(" ")
    lead = " " * min(len(text) - len(said), width // 2)
    return flowed(said.split(" "), width, lead, f"{lead}{indent}", " ")


def flowed(parts: Sequence[str], width: int, lead: str = "", indent: str = "", gap: str = _GAP) -> list[str]:
    """Return the lines of parts with gaps between them. A part is broken only if it is too long for a line.

    The first line begins with ``lead``, every other with ``indent``.
    """
    lead, indent = lead[: width // 2], indent[: width // 2]
    lines: list[str] = []
    line, begun = lead, False
    for part in map(printable, parts):
        grown = f"{line}{gap if begun else ''}{part}"
        if shown_width(grown) > width and begun:
            lines += [line.rstrip()] if line.strip() else ()
            grown = f"{indent}{part}" if part else indent
        start = indent if lines else lead
        while shown_width(grown) > width:
            place = _joint(grown, len(start), width)
            lines.append(grown[:place].rstrip())
            start = indent
            grown = f"{indent}{grown[place:]}"
        line, begun = grown, grown != start or begun
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _joint(text: str, start: int, width: int) -> int:
    """Return where to break a word that begins at ``start``: after its last joint that fits, or else anywhere."""
    most = start + 1
    while most < len(text) and shown_width(text[: most + 1]) <= width:
        most += 1
    joints = (place for kind in _JOINTS for place in range(most, start + 1, -1) if text[place - 1] in kind)
    return next(joints, most)


def labelled(label: str, text: str, width: int = WIDTH, label_width: int = LABEL, indent: str = "") -> Iterator[str]:
    """Yield the lines of a text next to its label. All lines except the first are indented."""
    margin = label_width + len(_GAP)
    for number, line in enumerate(wrapped(text, width - margin, indent)):
        yield f"{padded('' if number else label, label_width)}{_GAP}{line}".rstrip()


def beside(columns: Sequence[Sequence[str]], widths: Sequence[int], gap: str = _GAP) -> Iterator[str]:
    """Yield the lines of columns of text side by side."""
    for number in range(max(map(len, columns), default=0)):
        parts = (column[number] if number < len(column) else "" for column in columns)
        yield gap.join(padded(part, width) for part, width in zip(parts, widths, strict=True)).rstrip()


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a row, each cell wrapped in its width."""
    return beside([wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)], widths)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a line for each row, with every column as wide as its longest cell, whatever the whole width."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = _widths(rows)
    return [_GAP.join(padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], width: int = WIDTH) -> list[str]:
    """Return a table, whose last column is prose.

    As many columns as fit are side by side. The others are below each row, after their headings.
    """
    rows = [tuple(map(printable, row)) for row in rows]
    widths = _widths([headings, *rows])
    most = _fitting(widths, width)
    whole = len(headings)
    left = width - sum(widths[: whole - 1]) - len(_GAP) * (whole - 1)
    if most == whole - 1 and left >= _NARROWEST_PROSE:
        most, widths = whole, [*widths[:-1], left]
    if most == whole:
        return [line for row in (headings, *rows) for line in _row(row, widths)]
    most = max(1, most)
    side = [min(each, width) for each in widths[:most]]
    lines = list(_row(headings[:most], side))
    for row in rows:
        lines += _row(row[:most], side)
        named = zip(headings[most:-1], row[most:-1], strict=True)
        facts = [f"{heading} {cell}" for heading, cell in named if cell != NONE]
        below = "; ".join(filter(None, (*facts, row[-1])))
        lines += (f"{_BENEATH}{line}" for line in wrapped(below, width - len(_BENEATH)) if line)
    return lines


def _widths(rows: Sequence[tuple[str, ...]]) -> list[int]:
    return [max(map(shown_width, column)) for column in zip(*rows, strict=True)]


def _fitting(widths: Sequence[int], width: int) -> int:
    """Return how many of the first columns fit side by side."""
    taken = -len(_GAP)
    for number, each in enumerate(widths):
        taken += each + len(_GAP)
        if taken > width:
            return number
    return len(widths)

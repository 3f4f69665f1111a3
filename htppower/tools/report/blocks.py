"""The blocks of a report. Text, Markdown and HTML are three renderers of the same blocks.

A block holds plain text. The renderers escape it, wrap it and mark it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _rows(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, rows))


def _bars(rows: Iterable[tuple[tuple[str, ...], float]]) -> tuple[tuple[tuple[str, ...], float], ...]:
    return tuple(rows)


@attrs.frozen
class Heading:
    """A heading of level 1, 2 or 3."""

    text: str
    level: int = 2


@attrs.frozen
class Paragraph:
    """A paragraph."""

    text: str


@attrs.frozen
class Pairs:
    """Labels and texts. The lines of a text are shown below each other.

    Attributes:
        rows: the labels and texts.
        styles: colours of terminals for the texts of some labels.
    """

    rows: tuple[tuple[str, ...], ...] = attrs.field(converter=_rows)
    styles: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Table:
    """A table.

    Attributes:
        caption: its content in some words, for a page.
        head: the headings.
        rows: the cells.
        kind: its class in the style sheet of a page.
        numbers: whether all cells are aligned right.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = attrs.field(converter=_rows)
    kind: str = ""
    numbers: bool = False


@attrs.frozen
class Bars:
    """A table whose rows end in a bar.

    Attributes:
        caption: its content in some words, for a page.
        rows: the cells, and the length of the bar from 0 to 1. The first cell is a name, the others are numbers.
    """

    caption: str
    rows: tuple[tuple[tuple[str, ...], float], ...] = attrs.field(converter=_bars)


@attrs.frozen
class Code:
    """A text that keeps its line breaks, such as a file."""

    text: str
    language: str = "text"


@attrs.frozen
class Lines:
    """Text that is laid out by its report: ``draw`` makes the lines for a width."""

    draw: Callable[[int], Iterable[str]]


@attrs.frozen
class Picture:
    """A picture as SVG, with its name. Only a page shows it."""

    svg: str
    says: str


Block: TypeAlias = Union[Heading, Paragraph, Pairs, Table, Bars, Code, Lines, Picture]  # noqa: UP007 - Python 3.10

"""A comparison as text: a line for each field, grouped by effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.discovery import shown_path
from htppower.review.diff.effects import Effect
from htppower.review.layout import WIDTH, aligned, flowed, shown_width, wrapped
from htppower.review.styled import styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.errors import Place
    from htppower.review.diff.changes import Change
    from htppower.review.diff.compare import Comparison
    from htppower.review.diff.runs import RunPair

_BENEATH = "    "
_COLOURS = {Effect.RAISES_POWER: "red", Effect.LOWERS_POWER: "green", Effect.CHANGES_LATENCY: "yellow"}


def render(comparison: Comparison, runs: Sequence[RunPair] | None = None, width: int = WIDTH) -> str:
    """Return the comparison, styled."""
    groups = ["\n".join(group) for group in _groups(comparison, width)]
    said = "\n".join(wrapped(summary(comparison), width))
    return "\n\n".join((*filter(None, groups), *side_by_side(runs, width), said))


def side_by_side(runs: Sequence[RunPair] | None, width: int = WIDTH) -> list[str]:
    """Return the dry runs of each profile as text; their module is imported only where there are any."""
    if not runs:
        return []
    from htppower.review.diff.formats.timelines import lines  # noqa: PLC0415

    return ["\n".join(lines(pair, width)) for pair in runs]


def summary(comparison: Comparison) -> str:
    """Return the comparison in a line."""
    if comparison.same:
        return "nothing differs in what is resolved"
    counts = [(len(comparison.of_effect(effect)), effect.value) for effect in Effect]
    counts += [(len(comparison.added), "added"), (len(comparison.removed), "removed")]
    return ", ".join(f"{word}: {count}" for count, word in counts if count)


def place_text(place: Place) -> str:
    """Return a place as ``file:line``."""
    path = printable(shown_path(place.path))
    return f"{path}:{place.line}" if place.line else path


def _groups(comparison: Comparison, width: int) -> Iterator[list[str]]:
    for effect in Effect:
        changes = comparison.of_effect(effect)
        rows = [(_cells(change), f"({place_text(change.place)})") for change in changes]
        yield _lines(rows, effect.value, _COLOURS.get(effect), width)
    for word, names in (("added", comparison.added), ("removed", comparison.removed)):
        rows = [((printable(name),), f"({printable(shown_path(path))})") for name, path in names.items()]
        yield _lines(rows, word, None, width)


def _lines(rows: list[tuple[tuple[str, ...], str]], word: str, colour: str | None, width: int) -> list[str]:
    """Return a line for each row of cells, with what it means and its place; of those that do not fit, more lines."""
    cells = aligned([row for row, _ in rows])
    whole = [f"{line}   {word}   {place}" for line, (_, place) in zip(cells, rows, strict=True)]
    marked = styled(word, colour)
    if all(shown_width(line) <= width for line in whole):
        return [f"{line}   {marked}   {place}" for line, (_, place) in zip(cells, rows, strict=True)]
    lines = []
    for row, place in rows:
        first, *others = flowed((word, place), width, _BENEATH, _BENEATH * 2, "   ")
        lines += [*flowed(row, width, "", _BENEATH), first.replace(word, marked, 1), *others]
    return lines


def _cells(change: Change) -> tuple[str, str, str, str]:
    return printable(change.profile), change.when, change.field, f"{printable(change.old)} -> {printable(change.new)}"

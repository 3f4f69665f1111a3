"""A comparison as text: a line for each field, grouped by effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.discovery import shown_path
from htppower.review.diff.effects import Effect
from htppower.review.layout import aligned
from htppower.review.styled import styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.errors import Place
    from htppower.review.diff.changes import Change
    from htppower.review.diff.compare import Comparison
    from htppower.review.diff.runs import RunPair

_COLOURS = {Effect.RAISES_POWER: "red", Effect.LOWERS_POWER: "green", Effect.CHANGES_LATENCY: "yellow"}


def render(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the comparison, styled."""
    groups = ["\n".join(group) for group in _groups(comparison)]
    return "\n\n".join((*filter(None, groups), *side_by_side(runs), summary(comparison)))


def side_by_side(runs: Sequence[RunPair] | None) -> list[str]:
    """Return the dry runs of each profile as text; their module is imported only where there are any."""
    if not runs:
        return []
    from htppower.review.diff.formats.timelines import lines  # noqa: PLC0415

    return ["\n".join(lines(pair)) for pair in runs]


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


def _groups(comparison: Comparison) -> Iterator[list[str]]:
    for effect in Effect:
        changes = comparison.of_effect(effect)
        word = styled(effect.value, _COLOURS.get(effect))
        cells = aligned([_cells(change) for change in changes])
        yield [f"{line}   {word}   ({place_text(each.place)})" for line, each in zip(cells, changes, strict=True)]
    for word, names in (("added", comparison.added), ("removed", comparison.removed)):
        width = max(map(len, names), default=0)
        yield [f"{printable(name):<{width}}  {word}   ({printable(shown_path(path))})" for name, path in names.items()]


def _cells(change: Change) -> tuple[str, str, str, str]:
    return printable(change.profile), change.when, change.field, f"{printable(change.old)} -> {printable(change.new)}"

"""A comparison as text: a line for each field, by effect. A change that many profiles share is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.discovery import shown_path
from htppower.tools.report.layout import WIDTH, aligned, flowed, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.in_words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.errors import Place
    from htppower.tools.review.diff.change import Cause, Change
    from htppower.tools.review.diff.compare import Addition, Comparison, SharedChange
    from htppower.tools.review.diff.runs import RunPair

_BENEATH = "    "
# At most this many names are in the column of a change.
_MOST_NAMES = 3
_COLOURS = {Effect.RAISES_POWER: "red", Effect.LOWERS_POWER: "green", Effect.CHANGES_LATENCY: "yellow"}


def as_text(comparison: Comparison, runs: Sequence[RunPair] | None = None, width: int = WIDTH) -> str:
    """Return the comparison, styled."""
    groups = ["\n".join(group) for group in _groups(comparison, width)]
    groups += ["\n".join(_addition(each, width)) for each in comparison.additions]
    said = "\n".join(wrapped(summary(comparison), width))
    words = ["\n".join(wrapped(sentence, width, _BENEATH)) for sentence in in_words(comparison)]
    beside = ["\n".join(_side_by_side(pair, width)) for pair in runs or ()]
    return "\n\n".join((*filter(None, groups), *beside, *words, said))


def _side_by_side(pair: RunPair, width: int) -> Iterator[str]:
    """Return the lines of the dry runs of a profile. Their module is imported only if there are runs."""
    from htppower.tools.review.diff.runs import lines  # noqa: PLC0415

    return lines(pair, width)


def summary(comparison: Comparison) -> str:
    """Return the comparison in one line."""
    if comparison.same:
        return "nothing differs in what is resolved"
    counts = [(len(comparison.of_effect(effect)), effect.value) for effect in Effect]
    counts += [(len(getattr(comparison, word)), word) for word in ("added", "removed", "renamed")]
    return ", ".join(f"{word}: {count}" for count, word in counts if count)


def place_text(place: Place) -> str:
    """Return a place as ``file:line``. In JSON, which may be all in one line, it is ``file:line:column``."""
    path = printable(shown_path(place.path))
    if place.line and path.endswith(".json"):
        return f"{path}:{place.line}:{place.column}"
    return f"{path}:{place.line}" if place.line else path


def cause_text(cause: Cause) -> str:
    """Return the line that is the cause as ``file:line``. If the line was removed, return its old place."""
    return f"{place_text(cause.place)} removed" if cause.removed else place_text(cause.place)


def old_text(change: Change) -> str:
    """Return the old value, with its vote if that had another form."""
    return f"{change.old} ({change.old_field.partition('.')[0]})" if change.old_field else change.old


def _groups(comparison: Comparison, width: int) -> Iterator[list[str]]:
    for effect in Effect:
        changes = comparison.shared(effect)
        rows = [(_cells(each), f"({cause_text(each.change.cause)})", _left_out(each)) for each in changes]
        yield _lines(rows, effect.value, _COLOURS.get(effect), width)
    renamed = {f"{each.old} -> {each.new}": each.path for each in comparison.renamed}
    for word, names in (("added", comparison.added), ("removed", comparison.removed), ("renamed", renamed)):
        alone = [((printable(name),), f"({printable(shown_path(path))})", ()) for name, path in names.items()]
        yield _lines(alone, word, None, width)


def _addition(new: Addition, width: int) -> Iterator[str]:
    """Yield how a new profile differs from the profile that it extends."""
    yield from wrapped(f"{new.says}{':' if new.changes else ''}", width, _BENEATH)
    for effect in Effect:
        changes = [change for change in new.changes if change.effect is effect]
        rows = [(_change_cells(change), f"({cause_text(change.cause)})", ()) for change in changes]
        yield from _lines(rows, effect.value, _COLOURS.get(effect), width)


# The cells of a line, its place, and the names that have no room in its cell.
_Row = tuple[tuple[str, ...], str, tuple[str, ...]]


def _lines(rows: Sequence[_Row], word: str, colour: str | None, width: int) -> list[str]:
    """Return each row of cells as a line with its meaning and its place, or as several lines if it is too long."""
    cells = aligned([row for row, *_ in rows])
    marked = styled(word, colour)
    fits = all(
        shown_width(f"{line}   {word}   {place}") <= width for line, (_, place, _) in zip(cells, rows, strict=True)
    )
    lines = []
    for line, (row, place, names) in zip(cells, rows, strict=True):
        if fits:
            lines.append(f"{line}   {marked}   {place}")
        else:
            first, *others = flowed((word, place), width, _BENEATH, _BENEATH * 2, "   ")
            lines += [*flowed(row, width, "", _BENEATH), first.replace(word, marked, 1), *others]
        lines += (
            flowed([f"{name}," for name in names[:-1]] + [*names[-1:]], width, _BENEATH, _BENEATH, " ") if names else []
        )
    return lines


def _cells(shared: SharedChange) -> tuple[str, ...]:
    names = f"{len(shared.names)} profiles" if _are_many(shared) else ", ".join(shared.names)
    return printable(names), *_change_cells(shared.change)


def _change_cells(change: Change) -> tuple[str, str, str]:
    return change.when, change.field, printable(f"{old_text(change)} -> {change.new}")


def _left_out(shared: SharedChange) -> tuple[str, ...]:
    return shared.names if _are_many(shared) else ()


def _are_many(shared: SharedChange) -> bool:
    return len(shared.names) > _MOST_NAMES

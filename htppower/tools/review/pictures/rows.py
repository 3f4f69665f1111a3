"""The corner axis of a lane: the voted corners with their neighbours, and the rows without a corner below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.review.pictures.timeline import is_disable
from htppower.votes.corners import ExpandedCorner, VoltageCorner, as_expanded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.tools.review.pictures.timeline import Lane, Step

_ROW_PX = 16
_GAP_PX = 9
# The rows below the corners: a target of DISABLE, and a clock that follows the core clock.
NO_VOTE = "no vote"
FOLLOWS = "follows core"


@attrs.frozen
class CornerRow:
    """One row, some px below the top of the lane; ``gap``: whether corners between it and the next row are left out."""

    label: str
    y: float
    gap: bool = False


@attrs.frozen
class CornerAxis:
    """The rows of a lane, highest first."""

    rows: tuple[CornerRow, ...]
    height: float

    def y(self, label: str) -> float:
        """Return the y of a row."""
        return next(row.y for row in self.rows if row.label == label)


def row_of(step: Step) -> str | None:
    """Return the label of the row of a step's target; None without a vote."""
    if step.levels is None:
        return FOLLOWS if step.follows else None
    return NO_VOTE if is_disable(step.levels.target) else step.levels.target.name


def voted_rows(lane: Lane) -> set[str]:
    """Return the labels of the rows that the votes of a lane use."""
    return {label for step in lane.steps for label in _labels(step)}


def corner_axis(lanes: Iterable[Lane]) -> CornerAxis:
    """Return one axis for lanes that are compared, with the rows of all of them."""
    compared = list(lanes)
    labels = set().union(*map(voted_rows, compared))
    every = _siblings(level for lane in compared for step in lane.steps if step.levels for level in step.levels.all)
    places = [place for place, corner in enumerate(every) if corner.name in labels]
    shown = sorted({near for place in places for near in (place - 1, place, place + 1) if 0 <= near < len(every)})
    rows: list[CornerRow] = []
    y = _ROW_PX / 2
    for place in reversed(shown):
        gap = place - 1 not in shown and place > shown[0]
        rows.append(CornerRow(every[place].name, y, gap))
        y += _ROW_PX + (_GAP_PX if gap else 0)
    for label in (NO_VOTE, FOLLOWS):
        if label in labels:
            rows.append(CornerRow(label, y))
            y += _ROW_PX
    return CornerAxis(tuple(rows), max(y - _ROW_PX / 2, _ROW_PX))


def _labels(step: Step) -> Iterator[str]:
    row = row_of(step)
    if row is not None:
        yield row
    if step.levels is not None:
        yield from (level.name for level in step.levels.all if not is_disable(level))


def _siblings(voted: Iterable[VoltageCorner | ExpandedCorner]) -> list[VoltageCorner | ExpandedCorner]:
    """Return every corner of the kinds that are voted, lowest first, without DISABLE.

    If both kinds are voted, each corner is at the height of the same level in the other kind. The same name has one
    row.
    """
    kinds = {type(corner) for corner in voted}
    corners = [each for kind in (VoltageCorner, ExpandedCorner) if kind in kinds for each in kind]
    by_name = {each.name: each for each in sorted(corners, key=as_expanded) if not is_disable(each)}
    return list(by_name.values())

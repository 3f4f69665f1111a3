"""The corner axis of a lane: the corners that are voted and their neighbours, lowest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.corners import ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    import enum
    from collections.abc import Iterable

    from htppower.pictures.timeline import Lane, Step

_ROW_PX = 16
_GAP_PX = 9
FOLLOWS = "follows core"


@attrs.frozen
class CornerRow:
    """One row.

    Attributes:
        label: the corner's name.
        y: where it is, in px below the top of the lane.
        voted: whether the corner is voted; others are neighbours.
        gap: whether corners are left out between this row and the one below.
    """

    label: str
    y: float
    voted: bool
    gap: bool = False


@attrs.frozen
class CornerAxis:
    """The rows of a lane, highest first."""

    rows: tuple[CornerRow, ...]
    height: float

    def y(self, corner: enum.Enum | None) -> float:
        """Return where a corner is, in px below the top of the lane; None is the row of what follows the core."""
        label = FOLLOWS if corner is None else corner.name
        return next(row.y for row in self.rows if row.label == label)

    def has(self, step: Step) -> bool:
        """Return whether a step has a place here; what is not voted has none."""
        return step.levels is not None or step.follows


def corner_axis(lanes: Iterable[Lane]) -> CornerAxis:
    """Return one axis for lanes that are to be compared."""
    steps = [step for lane in lanes for step in lane.steps]
    voted: set[VoltageCorner | ExpandedCorner] = {level for step in steps if step.levels for level in step.levels.all}
    every = _siblings(voted)
    places = {every.index(corner) for corner in voted}
    shown = sorted({near for place in places for near in (place - 1, place, place + 1) if 0 <= near < len(every)})
    rows: list[CornerRow] = []
    y = _ROW_PX / 2
    for place in reversed(shown):
        gap = place - 1 not in shown and place > shown[0]
        rows.append(CornerRow(every[place].name, y, place in places, gap))
        y += _ROW_PX + (_GAP_PX if gap else 0)
    if any(step.follows for step in steps):
        rows.append(CornerRow(FOLLOWS, y, voted=True))
        y += _ROW_PX
    return CornerAxis(tuple(rows), max(y - _ROW_PX / 2, _ROW_PX))


def _siblings(voted: Iterable[VoltageCorner | ExpandedCorner]) -> list[VoltageCorner | ExpandedCorner]:
    """Return every corner of the kind that is voted, lowest first."""
    for corner in voted:
        return [*VoltageCorner] if isinstance(corner, VoltageCorner) else [*ExpandedCorner]
    return []

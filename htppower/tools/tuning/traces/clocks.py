"""The measured clock in a recording: its readings with the voted corner, and their spread for each corner."""

from __future__ import annotations

import json
import re
import statistics
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.tuning.traces.collected import LONGEST_US
from htppower.votes.corners import ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from htppower.tools.readers.limits import Room

# It begins with a plain text, which is found fast. The line feed before it keeps the search linear: the text may come
# often in one line.
_LINES = re.compile(rb'\n(\{"name":"clock",[^\n]*\}),(?=\n)')
_BEGIN = b'{"name":"clock",'
# How many inferences a reading counts as.
_ROOM = 10
_CORNERS = {int(corner): corner.name for kind in (ExpandedCorner, VoltageCorner) for corner in kind}
NO_VOTE = "no vote"


@attrs.frozen
class ClockPoint:
    """A reading: when, in us of the controller's clock; the clock in kHz; and the voted core corner."""

    time_us: int
    khz: float
    voted: str


@attrs.frozen
class ClockTrace:
    """The readings of one source, in the order of their times."""

    source: str
    points: tuple[ClockPoint, ...]

    def since(self, begin_us: int) -> ClockTrace:
        """Return the readings with their times since a begin."""
        return ClockTrace(
            self.source, tuple(attrs.evolve(each, time_us=each.time_us - begin_us) for each in self.points)
        )


@attrs.frozen
class CornerClock:
    """The clocks that were measured while the sessions voted one corner, in kHz."""

    voted: str
    readings: int
    least_khz: float
    median_khz: float
    most_khz: float


def without_clocks(batch: bytes) -> tuple[bytes, list[dict[str, Any]] | None]:
    """Return the whole lines that are not readings, and the events of the others; None if one of them is not JSON."""
    # Most recordings have no reading, and this is several times as fast as the pattern.
    if _BEGIN not in batch:
        return batch, []
    parts = _LINES.split(b"\n" + batch)
    try:
        return b"".join(parts[::2])[1:], [json.loads(line) for line in parts[1::2]]
    except (ValueError, RecursionError):
        return batch, None


class Clocks:
    """Collects the readings of a recording. A line that is not a reading of a clock is ignored."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._points: dict[str, list[ClockPoint]] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Collect the reading of an event."""
        args, time_us = event.get("args"), event.get("ts")
        if not isinstance(args, dict) or type(time_us) is not int or not 0 <= time_us <= LONGEST_US:
            return
        khz = args.get("clock_khz")
        if not isinstance(khz, (int, float)) or not 0 <= khz <= LONGEST_US:
            return
        self._room.take(_ROOM)
        voted = args.get("voted_corner")
        name = _CORNERS.get(voted, f"corner {voted}") if type(voted) is int else "DISABLE"
        point = ClockPoint(time_us, khz, NO_VOTE if name == "DISABLE" else name)
        self._points.setdefault(str(event.get("id")), []).append(point)

    def traces(self) -> tuple[ClockTrace, ...]:
        """Return the readings of each source."""
        return tuple(
            ClockTrace(source, tuple(sorted(points, key=lambda point: point.time_us)))
            for source, points in self._points.items()
        )


def by_corner(trace: ClockTrace) -> list[CornerClock]:
    """Return the clocks by voted corner, the lowest median first."""
    found: dict[str, list[float]] = {}
    for point in trace.points:
        found.setdefault(point.voted, []).append(point.khz)
    made = [CornerClock(voted, len(khz), min(khz), statistics.median(khz), max(khz)) for voted, khz in found.items()]
    return sorted(made, key=lambda each: (each.median_khz, each.voted))

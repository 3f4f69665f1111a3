"""The measured clock of a recording: a lane under the voted corner, a table, and JSON."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.report.blocks import Table
from htppower.tools.report.chart import Chart, Scale
from htppower.tools.report.words import counted
from htppower.tools.tuning.traces.clocks import by_corner

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.clocks import ClockPoint, ClockTrace

LANE_PX = 136.0
# Within a lane: the voted corners, and the clock.
_VOTED, _CLOCK = (14.0, 32.0), (56.0, 110.0)
_HEADINGS = ("voted core corner", "readings", "median", "lowest", "highest")
# The height of the corners as a share of their strip, which leaves room for their names.
_BAR = 0.25


def draw_clock(trace: ClockTrace, across: Scale, top: float) -> list[str]:
    """Return the voted corners, and the measured clock below them, on the scale of time of the sessions."""
    points = [point for point in trace.points if 0 <= across.place(point.time_us) <= 1]
    if not points:
        return []
    corners = Chart(
        ("", attrs.evolve(across, marks=())), ("voted corner", Scale(0, 1, False, marks=())), _at(top, _VOTED)
    )
    for voted, begin_us, end_us in _spans(points):
        corners.bar(begin_us, end_us, _BAR, "busy", f"core clock voted: {voted}", voted)
    most = max(1.0, *(point.khz for point in points))
    up = Scale(0, most * 1.1, False, _mhz, (0, most))
    clock = Chart(("", across), (f"clock measured by {trace.source}", up), _at(top, _CLOCK))
    clock.line([(point.time_us, point.khz) for point in points], "line", steps=True)
    return [*corners.drawn(), *clock.drawn()]


def clock_title(trace: ClockTrace) -> str:
    """Return what was measured, and how often."""
    return f"clock measured by {trace.source}, {counted(len(trace.points), 'reading')}"


def table(trace: ClockTrace) -> Table:
    """Return the clocks that were measured while each corner was voted."""
    rows = [
        (each.voted, f"{each.readings:,}", _mhz(each.median_khz), _mhz(each.least_khz), _mhz(each.most_khz))
        for each in by_corner(trace)
    ]
    return Table("The measured clock while each corner was voted", _HEADINGS, rows, numbers=True)


def as_json(trace: ClockTrace) -> dict[str, Any]:
    """Return the same for JSON."""
    return {"source": trace.source, "by_corner": [attrs.asdict(each) for each in by_corner(trace)]}


def _spans(points: list[ClockPoint]) -> list[tuple[str, int, int]]:
    """Return the stretches of readings with the same voted corner: each lasts until the next begins."""
    groups = [(voted, next(group).time_us) for voted, group in itertools.groupby(points, lambda point: point.voted)]
    ends_us = [*(begin_us for _, begin_us in groups[1:]), points[-1].time_us]
    return [(voted, begin_us, end_us) for (voted, begin_us), end_us in zip(groups, ends_us, strict=True)]


def _at(top: float, area: tuple[float, float]) -> tuple[float, float]:
    return top + area[0], top + area[1]


def _mhz(khz: float) -> str:
    return f"{khz / 1000:,.0f} MHz"

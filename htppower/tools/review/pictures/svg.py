"""A timeline as an SVG: self-contained, without a script, light or dark like the reader's system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.svg import WIDTH, element, shortened, svg, text
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.axis import time_axis
from htppower.tools.review.pictures.lanes import (
    BANDS_PX,
    STRIP_PX,
    corner_axis,
    draw_bands,
    draw_lane,
    draw_strips,
    settings_of,
    voted_rows,
)
from htppower.tools.review.pictures.marks import (
    AXIS_PX,
    CALLS_PX,
    LINE_PX,
    draw_axis,
    draw_breaks,
    draw_calls,
    draw_legend,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Timeline

_LEFT, _RIGHT = 168.0, 970.0
_HEAD_PX = 86.0
_LANE_HEAD_PX = 24
_NOTE_PX = 64
_NO_CALLS_PX = 14
_MARGIN = 16.0
# Core and bus have the same corners, so they share one axis; HMX has corners of its own.
_SHARING = {"core": ("core", "bus"), "bus": ("core", "bus"), "HMX": ("HMX",)}
# A description is read aloud, so it has at most this many moments.
_MOST_SPELT = 12
# More would be too narrow to be told apart.
_MOST_INFERENCES = 20
MORE = "the first {} inferences; {} more are in the trace of htppower profile --dry-run --format trace, for Perfetto"
NO_VOTES = "no call: this profile does not vote"
NO_VOTE = "no vote on this clock"
FOLLOWING = "no explicit vote, so it follows the core clock"


def as_svg(timeline: Timeline, beside: Sequence[Timeline] = (), name: str = "timeline", *, head: bool = True) -> str:
    """Return the picture.

    Args:
        timeline: the timeline to draw.
        beside: timelines to compare it with, which are drawn elsewhere on the same scales of time and corners.
        name: begins the ids of the picture, so that a page can hold several.
        head: whether to draw the profile, its summary and the workload at the top.
    """
    title, says = f"Votes of {timeline.profile} over time", describe(timeline)
    timeline, beside = timeline.begin(_MOST_INFERENCES), [each.begin(_MOST_INFERENCES) for each in beside]
    times = time_axis((timeline, *beside), _LEFT, _RIGHT)
    top = _HEAD_PX if head else _MARGIN
    lanes, notes, bottom = _lanes(timeline, beside, times, top + BANDS_PX)
    axis_top = bottom + (CALLS_PX if timeline.ticks else _NO_CALLS_PX)
    legend_top = axis_top + AXIS_PX + 6
    legend = draw_legend(timeline, times, legend_top, _MARGIN, _RIGHT, name)
    if timeline.left_out:
        more = MORE.format(_MOST_INFERENCES, timeline.left_out)
        legend.append(text(_MARGIN, legend_top + LINE_PX * len(legend) + 14, more, "faint"))
        says += f" Drawn are {more}."
    height = round(legend_top + LINE_PX * len(legend) + _MARGIN / 2)
    # Later parts are drawn over earlier ones: votes over bands, breaks over what they cut, words over breaks.
    parts = (
        _hatch(name),
        *(_head(timeline) if head else ()),
        *draw_bands(timeline, times, top, bottom, name),
        *lanes,
        element("rect", class_="frame", x=_LEFT, y=top, width=_RIGHT - _LEFT, height=bottom - top),
        *draw_calls(timeline.ticks, times, top + BANDS_PX, bottom),
        text(_LEFT - 9, top + BANDS_PX / 2 + 4, "phases", "voted", "end"),
        *([text(_LEFT - 17, bottom + 16, "native calls", "voted", "end")] if timeline.ticks else ()),
        *draw_axis(times, axis_top),
        *draw_breaks(times, (top - 4, bottom + 4), axis_top),
        *notes,
        *legend,
    )
    return svg(name, title, says, height, parts)


def _lanes(
    timeline: Timeline, beside: Sequence[Timeline], times: TimeAxis, top: float
) -> tuple[list[str], list[str], float]:
    """Return the lanes, the notes in them, and the y of their end."""
    middle = (_LEFT + _RIGHT) / 2
    if not timeline.lanes:
        note = text(middle, top + _NOTE_PX / 2 + 4, NO_VOTES, "note on-lane", "middle")
        return [], [note], top + _NOTE_PX + 6
    lanes: list[str] = []
    notes: list[str] = []
    for lane in timeline.lanes:
        every = (other for each in (timeline, *beside) for other in each.lanes)
        corners = corner_axis(other for other in every if other.clock in _SHARING[lane.clock])
        heading = text(_LEFT - 9, top + 17, f"{lane.clock} clock", "clock-name", "end")
        lanes.append(element("g", heading, class_=lane.clock))
        if not voted_rows(lane):
            notes.append(text(middle, top + _LANE_HEAD_PX + corners.height / 2 + 4, NO_VOTE, "note on-lane", "middle"))
        elif not lane.explicit and any(step.follows for step in lane.steps):
            notes.append(text(_LEFT + 8, top + 17, FOLLOWING, "faint on-lane"))
        lanes += draw_lane(lane, top + _LANE_HEAD_PX, corners, times, _LEFT, _RIGHT)
        top += _LANE_HEAD_PX + corners.height
    settings = settings_of(timeline, beside)
    lanes += draw_strips(settings, times, top + 6, _LEFT, _RIGHT)
    return lanes, notes, top + 6 + STRIP_PX * len(settings) + 6


def _hatch(name: str) -> str:
    """Return the pattern that fills windows."""
    lines = element("path", class_="hatch", d="M-2,2L2,-2M0,10L10,0M8,12L12,8", stroke_opacity=0.22)
    pattern = element("pattern", lines, id=f"{name}-hatch", width=10, height=10, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def _head(timeline: Timeline) -> Iterator[str]:
    room = WIDTH - 2 * _MARGIN
    yield text(_MARGIN, 28, shortened(timeline.profile, 18, room), "name")
    yield text(_MARGIN, 48, shortened(timeline.summary, 13, room), "summary")
    yield text(_MARGIN, 67, shortened(timeline.setting, 11, room), "setting")


def describe(timeline: Timeline) -> str:
    """Return the whole run in words, for readers who can't see the picture."""
    if not timeline.ticks:
        return f"{timeline.setting}. {NO_VOTES}."
    calls = "; ".join(_moments(timeline))
    return f"{timeline.setting}. {sum(tick.calls for tick in timeline.ticks)} native calls. {calls}."


def _moments(timeline: Timeline) -> Iterator[str]:
    """Yield what is in force after each moment with calls, for the first few and the last.

    Settings are repeated only if they change.
    """
    *before, last = dict.fromkeys(tick.time_us for tick in timeline.ticks)
    said = before[: _MOST_SPELT - 1]
    told: dict[str, str | None] = {}
    for time_us in (*said, last):
        if time_us == last and len(before) > len(said):
            yield f"and {len(before) - len(said)} more moments"
        steps = ", ".join(f"{lane.clock} {lane.at(time_us)}" for lane in timeline.lanes)
        said_now = {setting.field: setting.at(time_us).text for setting in timeline.settings}
        new = (f", {field} {text}" for field, text in said_now.items() if text not in (None, told.get(field)))
        yield f"At {duration(time_us)}: {steps}{''.join(new)}"
        told = said_now

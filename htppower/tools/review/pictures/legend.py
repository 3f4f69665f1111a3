"""The legend of a timeline, which explains only what occurs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Phase
from htppower.tools.report.svg import element, text, width_of
from htppower.tools.review.pictures.marks import GLYPHS, clusters, glyph
from htppower.tools.review.pictures.timeline import is_disable, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Timeline

    # The text of an entry, and a function that draws its sample.
    Entry: TypeAlias = tuple[str, Callable[[float, float], str]]

LINE_PX = 20
_SIZE = 11
_SAMPLE_PX = 26
_MEANINGS = {
    "create": "id created",
    "raise": "votes raised",
    "lower": "votes lowered",
    "cast": "other votes",
    "destroy": "id destroyed",
    "fail": "call failed",
}


def draw_legend(timeline: Timeline, times: TimeAxis, top: float, left: float, right: float, name: str) -> list[str]:
    """Return the lines of the legend, each with several entries."""
    lines: list[str] = []
    x, entries = left, list(_entries(timeline, times, name))
    line: list[str] = []
    for words, sample in entries:
        width = _SAMPLE_PX + width_of(words, _SIZE) + 14
        if line and x + width > right:
            lines.append("".join(line))
            line, x = [], left
        y = top + LINE_PX * len(lines) + 10
        line += [sample(x, y), text(x + _SAMPLE_PX, y + 4, words, "faint")]
        x += width
    return [*lines, "".join(line)] if line else lines


def _entries(timeline: Timeline, times: TimeAxis, name: str) -> Iterator[Entry]:
    phases = {span.phase for span in timeline.phases}
    if phases & {Phase.INIT, Phase.DEINIT}:
        yield f"{Phase.INIT} and {Phase.DEINIT}", _box(f"phase {Phase.INIT}")
    if Phase.INFERENCE in phases:
        yield str(Phase.INFERENCE), _box(f"phase {Phase.INFERENCE}")
    windows = dict.fromkeys(window.name for window in timeline.windows)
    if windows:
        yield f"votes kept up: {', '.join(windows)}", _box("window", f"url(#{name}-hatch)")
    yield from _of_votes(timeline, times)
    yield from _of_calls(timeline, times)
    if times.breaks:
        yield "time axis cut short, its length below", _zigzag


def _of_votes(timeline: Timeline, times: TimeAxis) -> Iterator[Entry]:
    levels = [step.levels for lane in timeline.lanes for step in lane.steps if step.levels]
    if any(not is_disable(level.target) for level in levels):
        yield "target corner", _stroke("target")
    if any(is_disable(level.target) for level in levels):
        yield "no vote: a target of DISABLE", _stroke("target no-vote")
    # A range narrower than a pixel is invisible.
    limits = [
        step.limits
        for lane in timeline.lanes
        for begin_us, end_us, step in spans(lane.steps, times.end_us)
        if times.x(end_us) - times.x(begin_us) >= 1
    ]
    if any(limit and limit[0] < limit[1] for limit in limits):
        yield "min to max", _box("range")
    if timeline.settings:
        yield "value of a field", _box("value")


def _of_calls(timeline: Timeline, times: TimeAxis) -> Iterator[Entry]:
    calls = clusters(timeline.ticks, times)
    does = {tick.does for cluster in calls for tick in cluster.ticks if not cluster.many}
    yield from ((_MEANINGS[kind], _glyph(kind)) for kind in GLYPHS if kind in does)
    if any(cluster.many for cluster in calls):
        yield "many calls", _box("many")


def _box(kind: str, fill: str = "") -> Callable[[float, float], str]:
    painted = {"fill": fill} if fill else {}
    return lambda x, y: element(
        "g", element("rect", class_=kind, x=x, y=y - 6, width=20, height=12, **painted), class_="core"
    )


def _stroke(kind: str) -> Callable[[float, float], str]:
    return lambda x, y: element("g", element("line", class_=kind, x1=x, y1=y, x2=x + 20, y2=y), class_="core")


def _glyph(kind: str) -> Callable[[float, float], str]:
    return lambda x, y: glyph(kind, x + 12, y)


def _zigzag(x: float, y: float) -> str:
    return element("path", class_="zigzag", d=f"M{x + 4:g},{y - 7:g}l4,4l-4,4l4,4M{x + 16:g},{y - 7:g}l4,4l-4,4l4,4")

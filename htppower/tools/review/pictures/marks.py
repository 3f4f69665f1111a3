"""Draws native calls as glyphs, the time axis with its breaks, and the legend, which explains only what occurs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.events import Phase
from htppower.tools.report.svg import element, path, shortened, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.axis import MARK_PX
from htppower.tools.review.pictures.timeline import is_disable, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Tick, Timeline

    # The text of an entry, and a function that draws its sample.
    Entry: TypeAlias = tuple[str, Callable[[float, float], str]]

CALLS_PX = 60
AXIS_PX = 38
# For each kind of call its meaning, and the outline of its glyph around the middle.
_GLYPHS = {
    "create": ("id created", "M-4,0A4,4 0 1 1 4,0A4,4 0 1 1 -4,0Z"),
    "raise": ("votes raised", "M0,-4.5L4.5,3.5H-4.5Z"),
    "lower": ("votes lowered", "M0,4.5L4.5,-3.5H-4.5Z"),
    "cast": ("other votes", "M0,-4.5L4.5,0L0,4.5L-4.5,0Z"),
    "destroy": ("id destroyed", "M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5"),
    "fail": ("call failed", "M-4.5,-4.5H4.5V4.5H-4.5Z"),
}
_GLYPH_PX = 13
# A tick that is nearer than this to the previous tick is in the same cluster. A cluster of up to _MOST_APART ticks is
# drawn as ticks side by side, a larger one as one glyph.
_TICKS_PX = 11
_MOST_APART = 2
_SIZE = 11
# Half of the gap of a break between its zigzag lines.
_GAP_PX = MARK_PX / 2 - 3
LINE_PX = 20
_SAMPLE_PX = 26


@attrs.frozen
class Cluster:
    """Ticks that are drawn side by side, or as one glyph if they are many."""

    left: float
    right: float
    ticks: tuple[Tick, ...]

    @property
    def many(self) -> bool:
        """Whether they are drawn as one glyph."""
        return len(self.ticks) > _MOST_APART


def clusters(ticks: Sequence[Tick], times: TimeAxis) -> list[Cluster]:
    """Return the ticks as they are drawn: those that are too close to each other are together."""
    groups: list[list[Tick]] = []
    for tick in ticks:
        if groups and times.x(tick.time_us) - times.x(groups[-1][-1].time_us) < _TICKS_PX:
            groups[-1].append(tick)
        else:
            groups.append([tick])
    return [Cluster(times.x(group[0].time_us), times.x(group[-1].time_us), tuple(group)) for group in groups]


def draw_calls(ticks: Sequence[Tick], times: TimeAxis, lanes_top: float, top: float) -> Iterator[str]:
    """Yield for each call a line through the lanes and a glyph below, with its word if there is room."""
    free = 0.0
    for cluster in clusters(ticks, times):
        middle = (cluster.left + cluster.right) / 2
        if cluster.many:
            yield from _many(cluster, top)
        else:
            for place, tick in enumerate(cluster.ticks):
                x = times.x(tick.time_us)
                yield element("line", class_="call", x1=x, y1=lanes_top, x2=x, y2=top + 4)
                shift = (place - (len(cluster.ticks) - 1) / 2) * _GLYPH_PX
                yield _glyph(tick.does, middle, top + 12, f"{duration(tick.time_us)}: {tick.says}", shift)
        words = [f"{len(cluster.ticks)} calls"] if cluster.many else [tick.does for tick in cluster.ticks]
        half = max(width_of(word, _SIZE) for word in words) / 2
        if middle - half >= free:
            for line, word in enumerate(words):
                yield text(middle, top + 31 + 13 * line, word, "faint", "middle")
            free = middle + half + 4


def _glyph(does: str, x: float, y: float, tip: str = "", shift: float = 0) -> str:
    outline = element("path", *((title(tip),) if tip else ()), class_=f"glyph {does}", d=_GLYPHS[does][1])
    return element("g", outline, transform=f"translate({round(x + shift, 1):g} {round(y, 1):g})")


def draw_axis(times: TimeAxis, top: float) -> Iterator[str]:
    """Yield the axis with its ticks and their times."""
    for piece in times.pieces:
        kind = "axis short" if piece.broken else "axis"
        yield element("line", class_=kind, x1=piece.left, y1=top, x2=piece.right, y2=top)
    free = 0.0
    for x, said in times.ticks():
        half = width_of(said, _SIZE) / 2
        if x - half >= free:
            yield element("line", class_="axis", x1=x, y1=top, x2=x, y2=top + 5)
            yield text(x, top + 17, said, "time", "middle")
            free = x + half + 4


def draw_breaks(times: TimeAxis, lanes: tuple[float, float], axis: float) -> Iterator[str]:
    """Yield for each break a gap between zigzag lines, through the lanes and in the axis, and its duration."""
    for piece in times.breaks:
        for top, bottom in (lanes, (axis - 5, axis + 5)):
            yield from _gap(piece.mark, top, bottom)
        time = duration(piece.end_us - piece.begin_us)
        width = piece.right - piece.left
        cut = next((said for said in (f"{time} cut", time) if width_of(said, _SIZE) < width), "")
        said = cut or shortened(time, _SIZE, width)
        yield from _span(piece.left, piece.right, axis + 27, width_of(said, _SIZE))
        yield text((piece.left + piece.right) / 2, axis + 31, said, "cut", "middle")


def _span(left: float, right: float, y: float, room: float) -> Iterator[str]:
    """Yield a line from end to end of a stretch, with ticks at its ends and room for a word in its middle."""
    middle = (left + right) / 2
    ends = ((left + 1, middle - room / 2 - 3), (right - 1, middle + room / 2 + 3))
    for outer, inner in ends:
        yield element("path", class_="zigzag", d=path((("M", outer, y - 4), ("L", outer, y + 4))))
        if abs(inner - outer) > _GAP_PX and (inner > outer) == (outer < middle):
            yield element("path", class_="zigzag", d=path((("M", outer, y), ("L", inner, y))))


def _gap(x: float, top: float, bottom: float) -> Iterator[str]:
    count = max(2, round((bottom - top) / 5))
    zigzag = [(2.5 if place % 2 else -2.5, top + (bottom - top) * place / count) for place in range(count + 1)]
    left, right = ([(x + side + shift, y) for side, y in zigzag] for shift in (-_GAP_PX, _GAP_PX))
    yield element("path", class_="ground", d=f"{_polyline([*left, *reversed(right)])}Z")
    for edge in (left, right):
        yield element("path", class_="zigzag", d=_polyline(edge))


def _polyline(points: Sequence[tuple[float, float]]) -> str:
    return path((("L" if place else "M"), x, y) for place, (x, y) in enumerate(points))


def _many(cluster: Cluster, top: float) -> Iterator[str]:
    """Yield a bar for calls that are too close to have a glyph each."""
    left, width = cluster.left - 4, cluster.right - cluster.left + 8
    kinds = {does: sum(tick.does == does for tick in cluster.ticks) for does in _GLYPHS}
    tip = title(", ".join(f"{count} x {does}" for does, count in kinds.items() if count))
    yield element("rect", tip, class_="many", x=left, y=top + 7, width=width, height=10.0, rx=3)


def draw_legend(timeline: Timeline, times: TimeAxis, top: float, left: float, right: float, name: str) -> list[str]:
    """Return the lines of the legend, each with several entries."""
    lines: list[str] = []
    x = left
    line: list[str] = []
    for words, sample in _entries(timeline, times, name):
        width = _SAMPLE_PX + width_of(words, _SIZE) + 14
        if line and x + width > right:
            lines.append("".join(line))
            line, x = [], left
        y = top + LINE_PX * len(lines) + 10
        line += [sample(x, y), text(x + _SAMPLE_PX, y + 4, words, "faint")]
        x += width
    return [*lines, "".join(line)] if line else lines


def _entries(timeline: Timeline, times: TimeAxis, name: str) -> Iterator[Entry]:
    """Yield the entries for phases, windows, votes, native calls and breaks."""
    phases = {span.phase for span in timeline.phases}
    if phases & {Phase.INIT, Phase.DEINIT}:
        yield f"{Phase.INIT} and {Phase.DEINIT}", _box(f"phase {Phase.INIT}")
    if Phase.INFERENCE in phases:
        yield str(Phase.INFERENCE), _box(f"phase {Phase.INFERENCE}")
    windows = dict.fromkeys(window.name for window in timeline.windows)
    if windows:
        yield f"votes kept up: {', '.join(windows)}", _box("window", f"url(#{name}-hatch)")
    yield from _of_votes(timeline, times)
    calls = clusters(timeline.ticks, times)
    does = {tick.does for cluster in calls for tick in cluster.ticks if not cluster.many}
    for kind, (meaning, _) in _GLYPHS.items():
        if kind in does:
            yield meaning, functools.partial(_glyph, kind, shift=12)
    if any(cluster.many for cluster in calls):
        yield "many calls", _box("many")
    if times.breaks:
        yield "time axis cut short, its length below", _sample_zigzag


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


def _box(kind: str, fill: str = "") -> Callable[[float, float], str]:
    painted = {"fill": fill} if fill else {}
    return lambda x, y: element(
        "g", element("rect", class_=kind, x=x, y=y - 6, width=20, height=12, **painted), class_="core"
    )


def _stroke(kind: str) -> Callable[[float, float], str]:
    return lambda x, y: element("g", element("line", class_=kind, x1=x, y1=y, x2=x + 20, y2=y), class_="core")


def _sample_zigzag(x: float, y: float) -> str:
    return element("path", class_="zigzag", d=f"M{x + 4:g},{y - 7:g}l4,4l-4,4l4,4M{x + 16:g},{y - 7:g}l4,4l-4,4l4,4")

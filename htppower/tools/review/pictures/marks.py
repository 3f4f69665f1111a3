"""Draws native calls as glyphs, and the time axis with its breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.svg import element, path, shortened, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.axis import MARK_PX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Tick

CALLS_PX = 60
AXIS_PX = 38
# The outline of the glyph for each kind of call, around its middle.
GLYPHS = {
    "create": "M-4,0A4,4 0 1 1 4,0A4,4 0 1 1 -4,0Z",
    "raise": "M0,-4.5L4.5,3.5H-4.5Z",
    "lower": "M0,4.5L4.5,-3.5H-4.5Z",
    "cast": "M0,-4.5L4.5,0L0,4.5L-4.5,0Z",
    "destroy": "M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5",
    "fail": "M-4.5,-4.5H4.5V4.5H-4.5Z",
}
_GLYPH_PX = 13
# A tick that is nearer than this to the previous tick is in the same cluster. A cluster of up to _MOST_APART ticks is
# drawn as ticks side by side, a larger one as one glyph.
_TICKS_PX = 11
_MOST_APART = 2
_SIZE = 11
# Half of the gap of a break between its zigzag lines.
_GAP_PX = MARK_PX / 2 - 3


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
                yield glyph(tick.does, middle + _spread(place, len(cluster.ticks)), top + 12, _tip(tick))
        words = [f"{len(cluster.ticks)} calls"] if cluster.many else [tick.does for tick in cluster.ticks]
        half = max(width_of(word, _SIZE) for word in words) / 2
        if middle - half >= free:
            for line, word in enumerate(words):
                yield text(middle, top + 31 + 13 * line, word, "faint", "middle")
            free = middle + half + 4


def glyph(does: str, x: float, y: float, tip: str = "") -> str:
    """Return the glyph of a call."""
    outline = element("path", *((title(tip),) if tip else ()), class_=f"glyph {does}", d=GLYPHS[does])
    return element("g", outline, transform=f"translate({round(x, 1):g} {round(y, 1):g})")


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
    left, right = ([(x + side + shift, y) for side, y in _zigzag(top, bottom)] for shift in (-_GAP_PX, _GAP_PX))
    yield element("path", class_="ground", d=f"{_polyline([*left, *reversed(right)])}Z")
    for edge in (left, right):
        yield element("path", class_="zigzag", d=_polyline(edge))


def _polyline(points: Sequence[tuple[float, float]]) -> str:
    return path((("L" if place else "M"), x, y) for place, (x, y) in enumerate(points))


def _zigzag(top: float, bottom: float) -> list[tuple[float, float]]:
    count = max(2, round((bottom - top) / 5))
    return [(2.5 if place % 2 else -2.5, top + (bottom - top) * place / count) for place in range(count + 1)]


def _many(cluster: Cluster, top: float) -> Iterator[str]:
    """Yield a bar for calls that are too close to have a glyph each."""
    left, width = cluster.left - 4, cluster.right - cluster.left + 8
    kinds = {does: sum(tick.does == does for tick in cluster.ticks) for does in GLYPHS}
    tip = title(", ".join(f"{count} x {does}" for does, count in kinds.items() if count))
    yield element("rect", tip, class_="many", x=left, y=top + 7, width=width, height=10.0, rx=3)


def _spread(place: int, count: int) -> float:
    return (place - (count - 1) / 2) * _GLYPH_PX


def _tip(tick: Tick) -> str:
    return f"{duration(tick.time_us)}: {tick.says}"

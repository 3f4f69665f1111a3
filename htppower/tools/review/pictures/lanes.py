"""Draws one lane: the votes on one clock over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.svg import element, path, text, title
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.condense import stretches
from htppower.tools.review.pictures.rows import FOLLOWS, NO_VOTE, row_of, voted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.condense import Stretch
    from htppower.tools.review.pictures.rows import CornerAxis
    from htppower.tools.review.pictures.timeline import Lane, Step

# Each kind of line has its own dashes: a target corner, and the rows that replace a corner.
_ROW_LINES = {NO_VOTE: "target no-vote", FOLLOWS: "target follows"}
LINES = ("target", *_ROW_LINES.values())
# The middle of a gap between two rows.
_GAP_MIDDLE = 12.5


def draw_lane(lane: Lane, top: float, corners: CornerAxis, times: TimeAxis, left: float, right: float) -> Iterator[str]:
    """Yield the elements of a lane, with its rows from the top down."""
    yield from _rows(corners, voted_rows(lane), top, left, right)
    drawn = stretches(lane.steps, times)
    yield f'<g class="{lane.clock}">'
    for stretch in drawn:
        yield from _areas(stretch, top, corners)
    for kind in LINES:
        line = path(_line(drawn, top, corners, kind))
        if line:
            yield element("path", class_=kind, d=line)
    yield from _tips(drawn, top, corners)
    yield "</g>"


def _rows(corners: CornerAxis, voted: set[str], top: float, left: float, right: float) -> Iterator[str]:
    for row in corners.rows:
        y = top + row.y
        yield element("line", class_="grid", x1=left, y1=y, x2=right, y2=y)
        yield text(left - 9, y + 4, row.label, "voted" if row.label in voted else "near", "end")
        if row.gap:
            # A wave across the axis marks the corners that are left out.
            points = zip("MLLL", (-6, -2, 2, 6), (2, -2, 2, -2), strict=True)
            wave = path((command, left + x, y + _GAP_MIDDLE + rise) for command, x, rise in points)
            yield element("path", class_="zigzag", d=wave)


def _areas(stretch: Stretch[Step], top: float, corners: CornerAxis) -> Iterator[str]:
    """Yield the filled area: the range from min to max, or one block for many changes."""
    width = stretch.right - stretch.left
    if width <= 0:
        return
    if len(stretch.steps) > 1:
        heights = [top + corners.y(row) for row in map(row_of, stretch.steps) if row is not None]
        if heights:
            box = {"x": stretch.left, "y": min(heights), "width": width, "height": max(heights) - min(heights)}
            yield element("rect", title(f"{len(stretch.steps)} changes"), class_="changes", **box)
        return
    (step,) = stretch.steps
    if step.limits is None:
        return
    low, high = (top + corners.y(limit.name) for limit in step.limits)
    if low > high:
        yield element("rect", class_="range", x=stretch.left, y=high, width=width, height=low - high)


def _line(drawn: list[Stretch[Step]], top: float, corners: CornerAxis, kind: str) -> Iterator[tuple[str, float, float]]:
    """Yield the line of one kind, with gaps where the targets are of another kind."""
    down = False
    for stretch in drawn:
        row = row_of(stretch.steps[0])
        if row is None or len(stretch.steps) > 1 or _ROW_LINES.get(row, "target") != kind:
            down = False
            continue
        y = top + corners.y(row)
        yield "L" if down else "M", stretch.left, y
        yield "L", stretch.right, y
        down = True


def _tips(drawn: list[Stretch[Step]], top: float, corners: CornerAxis) -> Iterator[str]:
    """Yield the tip of each step, shown under the pointer."""
    for stretch in drawn:
        width, step = stretch.right - stretch.left, stretch.steps[0]
        if len(stretch.steps) == 1 and width > 0 and row_of(step) is not None:
            tip = title(f"{step} from {duration(step.time_us)}")
            place = {"x": stretch.left, "y": top, "width": width, "height": corners.height}
            yield element("rect", tip, fill="none", pointer_events="all", **place)

"""The drawing of one lane: the votes on one clock over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.pictures.axis import spell_time
from htppower.pictures.condense import Stretch, stretches
from htppower.pictures.elements import element, path, text, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.pictures.axis import TimeAxis
    from htppower.pictures.rows import CornerAxis
    from htppower.pictures.timeline import Lane, Levels, Step

# Half-way between two rows with a gap between them.
_GAP_MIDDLE = 12.5


def draw_lane(lane: Lane, top: float, corners: CornerAxis, times: TimeAxis, left: float, right: float) -> Iterator[str]:
    """Yield the elements of a lane whose rows begin at a height."""
    yield from _rows(corners, top, left, right)
    drawn = stretches(lane, times)
    bottom = top + corners.height
    yield f'<g class="{lane.clock}">'
    for stretch in drawn:
        yield from _areas(stretch, top, bottom, corners)
    for follows in (False, True):
        line = path(_line(drawn, top, corners, follows=follows))
        if line:
            yield element("path", class_=f"target{' follows' if follows else ''}", d=line)
    yield from _says(drawn, top, corners, times)
    yield "</g>"


def _rows(corners: CornerAxis, top: float, left: float, right: float) -> Iterator[str]:
    for row in corners.rows:
        y = top + row.y
        yield element("line", class_="grid", x1=left, y1=y, x2=right, y2=y)
        yield text(left - 9, y + 4, row.label, "voted" if row.voted else "near", "end")
        if row.gap:
            # Corners are left out: a wave across the axis says that the next row is not the next corner.
            points = zip("MLLL", (-6, -2, 2, 6), (2, -2, 2, -2), strict=True)
            wave = path((command, left + x, y + _GAP_MIDDLE + rise) for command, x, rise in points)
            yield element("path", class_="zigzag", d=wave)


def _areas(stretch: Stretch, top: float, bottom: float, corners: CornerAxis) -> Iterator[str]:
    """Yield what is filled: many changes as one block, the range from min to max, and a tint under the target."""
    width = stretch.right - stretch.left
    if width <= 0:
        return
    if len(stretch.steps) > 1:
        heights = [top + y for step in stretch.steps for y in _heights(step, corners)]
        if heights:
            box = {"x": stretch.left, "y": min(heights), "width": width, "height": max(heights) - min(heights)}
            yield element("rect", title(f"{len(stretch.steps)} changes"), class_="changes", **box)
        return
    (step,) = stretch.steps
    if step.levels is None:
        return
    low, high = (top + y for y in _limits(step.levels, corners))
    target = top + corners.y(step.levels.target)
    yield element("rect", class_="under", x=stretch.left, y=target, width=width, height=bottom - target)
    if low > high:
        yield element("rect", class_="range", x=stretch.left, y=high, width=width, height=low - high)


def _limits(levels: Levels, corners: CornerAxis) -> tuple[float, float]:
    """Return the heights of min and max; DISABLE beside a target is no limit: the range ends at the target."""
    ends = (levels.min, levels.max)
    low, high = (levels.target if end.name == "DISABLE" else end for end in ends)
    return corners.y(low), corners.y(high)


def _heights(step: Step, corners: CornerAxis) -> tuple[float, ...]:
    if step.levels is not None:
        return (corners.y(step.levels.target),)
    return (corners.y(None),) if step.follows else ()


def _line(
    drawn: list[Stretch], top: float, corners: CornerAxis, *, follows: bool
) -> Iterator[tuple[str, float, float]]:
    """Yield the line of the target, broken where nothing is voted; that of following is dashed, so it is another."""
    down = False
    for stretch in drawn:
        steps = [step for step in stretch.steps if corners.has(step)]
        if not steps or len(stretch.steps) > 1 or steps[0].follows is not follows:
            down = False
            continue
        y = top + _heights(steps[0], corners)[0]
        yield "L" if down else "M", stretch.left, y
        yield "L", stretch.right, y
        down = True


def _says(drawn: list[Stretch], top: float, corners: CornerAxis, times: TimeAxis) -> Iterator[str]:
    """Yield what the pointer is told of each step."""
    for stretch in drawn:
        width, step = stretch.right - stretch.left, stretch.steps[0]
        if len(stretch.steps) == 1 and width > 0 and corners.has(step):
            tip = title(f"{step} from {spell_time(step.time_us, times.end_us)}")
            place = {"x": stretch.left, "y": top, "width": width, "height": corners.height}
            yield element("rect", tip, fill="none", pointer_events="all", **place)

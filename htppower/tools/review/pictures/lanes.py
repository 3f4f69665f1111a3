"""Draws lanes, and strips of phases and of other fields. A lane has the votes on one clock, on an axis of corners.

The axis has the voted corners with their neighbours, and below them the rows without a corner.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.svg import element, path, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.timeline import FIELDS, Setting, is_disable, spans
from htppower.votes.corners import ExpandedCorner, VoltageCorner, as_expanded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from htppower.tools.review.dry_run.observer import Span
    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Lane, Step, Timeline, Value

    # A step with its left and its right end, in px.
    Drawn: TypeAlias = tuple[float, float, Step]

_ROW_PX = 16
_GAP_PX = 9
# The rows below the corners: a target of DISABLE, and a clock that follows the core clock.
NO_VOTE = "no vote"
FOLLOWS = "follows core"
# Each kind of line has its own dashes: a target corner, and the rows that replace a corner.
_ROW_LINES = {NO_VOTE: "target no-vote", FOLLOWS: "target follows"}
LINES = ("target", *_ROW_LINES.values())
# The middle of a gap between two rows.
_GAP_MIDDLE = 12.5
BANDS_PX = 22
# A word is drawn in the first of these sizes that fits.
_SIZES = {"band": 10, "band tight": 9}
_PADDING = 5
# Even a phase without duration is this wide.
_NARROWEST = 1.5
STRIP_PX = 20
_BAR_PX = 14
_VALUE_SIZE = 10
_VALUE_PADDING = 3


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


def draw_lane(lane: Lane, top: float, corners: CornerAxis, times: TimeAxis, left: float, right: float) -> Iterator[str]:
    """Yield the elements of a lane, with its rows from the top down."""
    yield from _rows(corners, voted_rows(lane), top, left, right)
    drawn = [(times.x(begin_us), times.x(end_us), step) for begin_us, end_us, step in spans(lane.steps, times.end_us)]
    yield f'<g class="{lane.clock}">'
    for begin, end, step in drawn:
        if step.limits is not None and end > begin:
            low, high = (top + corners.y(limit.name) for limit in step.limits)
            if low > high:
                yield element("rect", class_="range", x=begin, y=high, width=end - begin, height=low - high)
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


def _line(drawn: list[Drawn], top: float, corners: CornerAxis, kind: str) -> Iterator[tuple[str, float, float]]:
    """Yield the line of one kind, with gaps where the targets are of another kind."""
    down = False
    for left, right, step in drawn:
        row = row_of(step)
        if row is None or _ROW_LINES.get(row, "target") != kind:
            down = False
            continue
        y = top + corners.y(row)
        yield "L" if down else "M", left, y
        yield "L", right, y
        down = True


def _tips(drawn: list[Drawn], top: float, corners: CornerAxis) -> Iterator[str]:
    """Yield the tip of each step, shown under the pointer."""
    for left, right, step in drawn:
        if right > left and row_of(step) is not None:
            tip = title(f"{step} from {duration(step.time_us)}")
            place = {"x": left, "y": top, "width": right - left, "height": corners.height}
            yield element("rect", tip, fill="none", pointer_events="all", **place)


def draw_bands(timeline: Timeline, times: TimeAxis, top: float, bottom: float, name: str) -> Iterator[str]:
    """Yield the strip, and each band's tint down to the bottom; windows are behind phases."""
    for window in timeline.windows:
        left, width = _place(window, times)
        yield element("rect", fill=f"url(#{name}-hatch)", x=left, y=top, width=width, height=bottom - top)
        lasted = duration(window.duration_us)
        strip = {"x": left, "y": top, "width": width, "height": BANDS_PX}
        tip = title(f"{window.name}, {lasted}")
        yield element("rect", tip, fill="none", pointer_events="all", class_="window", **strip)
        yield from _label(window, top, (f"{window.name} {lasted}", window.name), times)
    for span in timeline.phases:
        left, width = _place(span, times)
        tint = {"x": left, "y": top + BANDS_PX, "width": width, "height": bottom - top - BANDS_PX}
        yield element("rect", class_=f"column {span.phase}", **tint)
        strip = {"x": left, "y": top, "width": width, "height": BANDS_PX}
        tip = title(f"{span.phase}, {duration(span.duration_us)}")
        yield element("rect", tip, class_=f"phase {span.phase}", **strip)
        yield from _label(span, top, (str(span.phase),), times)


def _place(span: Span, times: TimeAxis) -> tuple[float, float]:
    """Return x and width of a span, which is wide enough to be seen, and within the axis."""
    left = times.x(span.begin_us)
    width = max(times.x(span.end_us) - left, _NARROWEST)
    return min(left, times.pieces[-1].right - width), width


def _label(span: Span, top: float, words: tuple[str, ...], times: TimeAxis) -> Iterator[str]:
    """Yield the first word that fits, in the widest room between the marks of breaks."""
    left, right = times.widest_room(times.x(span.begin_us), times.x(span.end_us))
    width = right - left - _PADDING
    fitting = ((word, kind) for word in words for kind, size in _SIZES.items() if width_of(word, size) <= width)
    for word, kind in itertools.islice(fitting, 1):
        yield text((left + right) / 2, top + BANDS_PX / 2 + 3.5, word, kind, "middle")


def settings_of(timeline: Timeline, beside: Sequence[Timeline]) -> list[Setting]:
    """Return the settings of a timeline, and without a value the settings that only another timeline has."""
    own = {setting.field: setting for setting in timeline.settings}
    named = {setting.field for every in (timeline, *beside) for setting in every.settings}
    return [own.get(field) or Setting(field) for field in FIELDS if field in named]


def draw_strips(settings: Sequence[Setting], times: TimeAxis, top: float, left: float, right: float) -> Iterator[str]:
    """Yield the strips, from the top down, each ``STRIP_PX`` high."""
    for place, setting in enumerate(settings):
        y = top + STRIP_PX * place + (STRIP_PX - _BAR_PX) / 2
        yield element("line", class_="grid", x1=left, y1=y + _BAR_PX / 2, x2=right, y2=y + _BAR_PX / 2)
        voted = any(value.text is not None for value in setting.steps)
        yield text(left - 9, y + _BAR_PX - 3.5, setting.field, "voted" if voted else "near", "end")
        yield '<g class="strip">'
        for begin_us, end_us, value in spans(setting.steps, times.end_us):
            yield from _value(value, times.x(begin_us), times.x(end_us), y, times)
        yield "</g>"


def _value(value: Value, left: float, right: float, y: float, times: TimeAxis) -> Iterator[str]:
    """Yield a value as a bar, with its text if there is room."""
    if left >= right or value.text is None:
        return
    bar = {"x": left, "y": y, "width": right - left, "height": _BAR_PX}
    tip = title(f"{value.text} from {duration(value.time_us)}")
    yield element("rect", tip, class_="value", **bar)
    begin, end = times.widest_room(left, right)
    if width_of(value.text, _VALUE_SIZE) + 2 * _VALUE_PADDING <= end - begin:
        yield text((begin + end) / 2, y + _BAR_PX - 3.5, value.text, "band", "middle")

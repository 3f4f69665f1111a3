"""Draws the votes on other fields than clocks: a strip for each field, with its value over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.svg import element, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.condense import stretches
from htppower.tools.review.pictures.timeline import FIELDS, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.condense import Stretch
    from htppower.tools.review.pictures.timeline import Timeline, Value

STRIP_PX = 20
_BAR_PX = 14
_SIZE = 10
_PADDING = 3


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
        for stretch in stretches(setting.steps, times):
            yield from _draw(stretch, y, times)
        yield "</g>"


def _draw(stretch: Stretch[Value], y: float, times: TimeAxis) -> Iterator[str]:
    """Yield a value as a bar, with its text if there is room; many values as one block."""
    width = stretch.right - stretch.left
    bar = {"x": stretch.left, "y": y, "width": width, "height": _BAR_PX}
    value = stretch.steps[0]
    if width <= 0 or (len(stretch.steps) == 1 and value.text is None):
        return
    if len(stretch.steps) > 1:
        yield element("rect", title(f"{len(stretch.steps)} changes"), class_="changes", **bar)
        return
    tip = title(f"{value.text} from {duration(value.time_us)}")
    yield element("rect", tip, class_="value", **bar)
    said = value.text or ""
    begin, end = times.widest_room(stretch.left, stretch.right)
    if width_of(said, _SIZE) + 2 * _PADDING <= end - begin:
        yield text((begin + end) / 2, y + _BAR_PX - 3.5, said, "band", "middle")

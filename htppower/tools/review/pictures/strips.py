"""Draws strips: of phases and windows as named bands, and of each field besides the clocks with its value."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from htppower.tools.report.svg import element, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.timeline import FIELDS, Setting, spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.dry_run.observer import Span
    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Timeline, Value

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

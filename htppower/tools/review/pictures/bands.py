"""Draws phases and windows: a strip of named bands, and their tint through the lanes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from htppower.tools.report.svg import element, text, title, width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.condense import phase_bands, window_bands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.condense import Band
    from htppower.tools.review.pictures.timeline import Timeline

BANDS_PX = 22
# A word is drawn in the first of these sizes that fits.
_SIZES = {"band": 10, "band tight": 9}
_PADDING = 5
# Even a phase without duration is this wide.
_NARROWEST = 1.5


def draw_bands(timeline: Timeline, times: TimeAxis, top: float, bottom: float, name: str) -> Iterator[str]:
    """Yield the strip, and each band's tint down to the bottom; windows are behind phases."""
    phases = phase_bands(timeline.phases, times)
    for band in window_bands(timeline.windows, times, phases):
        left, width = _place(band, times)
        yield element("rect", fill=f"url(#{name}-hatch)", x=left, y=top, width=width, height=bottom - top)
        lasted = duration(band.duration_us)
        tip = f"{band.name}, {lasted}" if band.count == 1 else f"{band.count} {band.name} windows in {lasted}"
        yield _strip(band, top, times, title(tip), fill="none", pointer_events="all", class_="window")
        yield from _label(band, top, (f"{band.name} {lasted}", band.name), times)
    for band in phases:
        left, width = _place(band, times)
        tint = {"x": left, "y": top + BANDS_PX, "width": width, "height": bottom - top - BANDS_PX}
        yield element("rect", class_=f"column {band.name}", **tint)
        lasted = duration(band.duration_us)
        tip = f"{band.name}, {lasted}" if band.count == 1 else f"{band.count} of {band.name} in {lasted}"
        yield _strip(band, top, times, title(tip), class_=f"phase {band.name}")
        words = (band.name,) if band.count == 1 else (f"{band.count} x {band.name}", f"{band.count}")
        yield from _label(band, top, words, times)


def _strip(band: Band, top: float, times: TimeAxis, tip: str, **look: object) -> str:
    left, width = _place(band, times)
    return element("rect", tip, **look, x=left, y=top, width=width, height=BANDS_PX)


def _place(band: Band, times: TimeAxis) -> tuple[float, float]:
    """Return x and width of a band, which is wide enough to be seen, and within the axis."""
    width = max(band.right - band.left, _NARROWEST)
    return min(band.left, times.pieces[-1].right - width), width


def _label(band: Band, top: float, words: tuple[str, ...], times: TimeAxis) -> Iterator[str]:
    """Yield the first word that fits, in the widest room between the marks of breaks."""
    left, right = times.widest_room(band.left, band.right)
    width = right - left - _PADDING
    fitting = ((word, kind) for word in words for kind, size in _SIZES.items() if width_of(word, size) <= width)
    for word, kind in itertools.islice(fitting, 1):
        yield text((left + right) / 2, top + BANDS_PX / 2 + 3.5, word, kind, "middle")

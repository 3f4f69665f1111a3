"""A trace as an SVG: for each session a strip of time with its bursts, and a histogram of its gaps.

All sessions share an axis of time and an axis of lengths, so that they can be compared. Lengths are logarithmic: a bar
is an octave.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from htppower.tools.review.pictures.axis import spell_time
from htppower.tools.review.pictures.elements import element, path, safe, shortened, text, title, width_of
from htppower.tools.review.pictures.style import SVG
from htppower.tools.review.traces.words import facts, headline, percent, time
from htppower.tools.review.traces.words import title as title_of
from htppower.tools.tuning.counted import counted
from htppower.tools.tuning.traces.patterns import begun, burst_spans, busy_shares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.tuning.traces.describe import Octave, SessionDescription, TraceDescription
    from htppower.tools.tuning.traces.trace import SessionTrace, Trace

# Added to the style sheet of all pictures.
_STYLE = """
.htp .burst { fill: var(--inference); fill-opacity: .13; stroke: none; }
.htp .busy { fill: var(--inference); stroke: none; }
.htp .gap-bar { fill: var(--bus); fill-opacity: .3; stroke: var(--bus); stroke-opacity: .8; }
.htp .gap-bar.within { fill: var(--inference); fill-opacity: .3; stroke: var(--inference); }
.htp .time-out { stroke: var(--sustain); stroke-dasharray: 4 3; }
.htp .time-out-name { fill: var(--sustain); font-weight: 600; }
"""
_WIDTH = 1000
_LEFT, _RIGHT = 108.0, 976.0
_MARGIN = 16.0
_HEAD_PX = 62.0
_NAME_PX = 24.0
_STRIP_PX = 34.0
_TIME_AXIS_PX = 30.0
_MARKS_PX = 18.0
_BARS_PX = 84.0
_LENGTH_AXIS_PX = 24.0
_BELOW_PX = 34.0
_SESSION_PX = _NAME_PX + _STRIP_PX + _TIME_AXIS_PX + _MARKS_PX + _BARS_PX + _LENGTH_AXIS_PX + _BELOW_PX
# The most sessions to draw. The text shows more.
MOST_DRAWN = 6
# The width of a column of the strip, and the least height of a column that is not idle.
_COLUMN_PX = 1.0
_LOWEST_PX = 3.0
_SIZE = 11
_BAR_GAP_PX = 2.0
_TICK_PX = 64
_UNITS = (
    (86_400_000_000, "days"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1_000, "ms"),
    (1, "us"),
)
# The marks on the axis of lengths: decades up to the second, and then round times, which are about as far apart.
_LENGTHS = (
    *((10**exponent, spell_time(10**exponent)) for exponent in range(8)),
    (60_000_000, "1 min"),
    (600_000_000, "10 min"),
    (3_600_000_000, "1 h"),
    (36_000_000_000, "10 h"),
    *((86_400_000_000 * 10**exponent, f"{10**exponent} day{'s' if exponent else ''}") for exponent in range(6)),
)
# An axis of time is at least so many units long.
_FEWEST_UNITS = 5


def as_svg(trace: Trace, described: TraceDescription, name: str = "trace", *, head: bool = True) -> str:
    """Return the picture.

    Args:
        trace: the trace.
        described: its content.
        name: begins the ids of the picture, so that a page can hold several.
        head: whether to show the file and its content at the top.
    """
    traces = {each.name: each for each in trace.sessions}
    drawn = described.sessions[:MOST_DRAWN]
    left_out = len(described.sessions) - len(drawn)
    top = _HEAD_PX if head else _MARGIN / 2
    height = round(top + _SESSION_PX * len(drawn) + (20 if left_out else 0) + _MARGIN / 2)
    ids = f"{name}-title {name}-desc"
    picture = _Picture(drawn)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="htp" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="{safe(ids)}">'
        ),
        element("title", safe(f"Inferences and gaps of {described.source}"), id=f"{name}-title"),
        element("desc", safe(_in_words(described, drawn)), id=f"{name}-desc"),
        f"<style>{SVG}{_STYLE}</style>",
        element("rect", class_="ground", width=_WIDTH, height=height),
    ]
    if head:
        room = _WIDTH - 2 * _MARGIN
        parts.append(text(_MARGIN, 28, shortened(described.source, 18, room), "name"))
        parts.append(text(_MARGIN, 48, shortened(headline(described), 13, room), "summary"))
    for session in drawn:
        parts += picture.session(traces[session.name], session, top)
        top += _SESSION_PX
    if left_out:
        parts.append(text(_MARGIN, top + 14, f"{counted(left_out, 'more session')} not drawn here", "faint"))
    return "\n".join((*parts, "</svg>"))


def _in_words(described: TraceDescription, drawn: Sequence[SessionDescription]) -> str:
    """Return the picture in words, for readers who can't see it."""
    said = (f"{title_of(each)}: {'; '.join(f'{label} {fact}' for label, fact in facts(each))}" for each in drawn)
    return f"{headline(described)}. {'. '.join(said)}."


class _Picture:
    """Draws the sessions on shared axes."""

    def __init__(self, sessions: Sequence[SessionDescription]) -> None:
        self._begin_us = min(each.begin_us for each in sessions)
        self._end_us = max(*(each.end_us for each in sessions), self._begin_us + 1)
        octaves = [octave for each in sessions for octave in each.octaves]
        marked = [time_out.time_out_us for each in sessions[:1] for time_out in each.time_outs if time_out.time_out_us]
        # An octave is named by the power of two at its end. The octave of gaps below 1 us ends with 2 ** 0.
        ends = [octave.to_us.bit_length() - 1 for octave in octaves]
        ends += [time_out_us.bit_length() for time_out_us in marked]
        self._first, self._last = min(ends), max(ends)
        self._octave_px = (_RIGHT - _LEFT) / (self._last - self._first + 1)
        self._marked_us = marked

    def session(self, trace: SessionTrace, session: SessionDescription, top: float) -> Iterator[str]:
        """Yield a session, from the top down."""
        yield text(_MARGIN, top + 16, shortened(title_of(session), 12, _WIDTH / 2), "voted")
        said = f"{counted(session.inferences, 'inference')} in {time(session.span_us)}"
        yield text(_RIGHT, top + 16, said, "faint", "end")
        top += _NAME_PX
        yield from self._strip(trace, session, top)
        yield from self._time_axis(top + _STRIP_PX)
        yield from self._histogram(session, top + _STRIP_PX + _TIME_AXIS_PX)

    def _strip(self, trace: SessionTrace, session: SessionDescription, top: float) -> Iterator[str]:
        """Yield when the session was busy, in columns as high as the busy share of time, with the bursts behind."""
        columns = round((_RIGHT - _LEFT) / _COLUMN_PX)
        shares = busy_shares(trace, self._begin_us, self._end_us, columns).tolist()
        counts = begun(trace, self._begin_us, self._end_us, columns).tolist()
        yield text(_LEFT - 9, top + _STRIP_PX / 2 + 4, "busy", "voted", "end")
        yield element("rect", class_="frame", x=_LEFT, y=top, width=_RIGHT - _LEFT, height=_STRIP_PX)
        if session.bursts is not None:
            yield from self._bursts(trace, session.bursts.below_us, top)
        bottom = top + _STRIP_PX
        points: list[tuple[str, float, float]] = []
        for place, (share, count) in enumerate(zip(shares, counts, strict=True)):
            if share > 0 or count:
                left = _LEFT + place * _COLUMN_PX
                y = bottom - max(share * _STRIP_PX, _LOWEST_PX)
                points += [("M", left, bottom), ("L", left, y), ("L", left + _COLUMN_PX, y)]
                points.append(("L", left + _COLUMN_PX, bottom))
        tip = title(f"busy {percent(session.busy_us / max(session.span_us, 1))} of {time(session.span_us)}")
        yield element("path", tip, class_="busy", d=path(points))

    def _at(self, since_us: float) -> float:
        """Return the x of a moment since the first begin."""
        return _LEFT + since_us / (self._end_us - self._begin_us) * (_RIGHT - _LEFT)

    def _time_axis(self, top: float) -> Iterator[str]:
        """Yield the axis of time, in the largest unit that fits into it several times."""
        whole_us = self._end_us - self._begin_us
        size_us, unit = next(((size, unit) for size, unit in _UNITS if whole_us >= _FEWEST_UNITS * size), _UNITS[-1])
        most = (_RIGHT - _LEFT) / _TICK_PX
        steps = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
        step = next(step for step in steps if whole_us / size_us / step <= most)
        yield element("line", class_="axis", x1=_LEFT, y1=top, x2=_RIGHT, y2=top)
        for count in range(0, whole_us // size_us + 1, step):
            x = self._at(count * size_us)
            yield element("line", class_="axis", x1=x, y1=top, x2=x, y2=top + 5)
            yield text(x, top + 17, f"{count} {'day' if count == 1 and unit == 'days' else unit}", "time", "middle")

    def _bursts(self, trace: SessionTrace, below_us: int, top: float) -> Iterator[str]:
        """Yield a band for each burst. Bursts too close to be shown apart share a band."""
        begins_us, ends_us = burst_spans(trace, below_us)
        bands: list[tuple[float, float, int]] = []
        for begin_us, end_us in zip(begins_us.tolist(), ends_us.tolist(), strict=True):
            left, right = (self._at(each - self._begin_us) for each in (begin_us, end_us))
            if bands and left - bands[-1][1] < 1:
                bands[-1] = (bands[-1][0], max(right, bands[-1][1]), bands[-1][2] + 1)
            else:
                bands.append((left, right, 1))
        for left, right, count in bands:
            place = {"x": left, "y": top, "width": max(right - left, 1.0), "height": _STRIP_PX}
            yield element("rect", title(counted(count, "burst")), class_="burst", **place)

    def _histogram(self, session: SessionDescription, top: float) -> Iterator[str]:
        """Yield a bar for each octave of gaps, with the sustain times as lines."""
        bars_top = top + _MARKS_PX
        bottom = bars_top + _BARS_PX
        most = max((octave.count for octave in session.octaves), default=0)
        yield text(_LEFT - 9, bars_top + _BARS_PX / 2, "gaps", "voted", "end")
        total = sum(octave.count for octave in session.octaves)
        yield text(_LEFT - 9, bars_top + _BARS_PX / 2 + 14, f"{total:,}", "faint", "end")
        below_us = 0 if session.bursts is None else session.bursts.below_us
        for octave in session.octaves:
            if octave.count:
                within = octave.from_us < below_us
                yield from self._bar(octave, most, bars_top, within=within)
        yield element("line", class_="axis", x1=_LEFT, y1=bottom, x2=_RIGHT, y2=bottom)
        yield from self._length_axis(bottom)
        yield from self._time_outs(session, top, bottom)
        yield from _warm(session, bottom + _LENGTH_AXIS_PX)

    def _bar(self, octave: Octave, most: int, top: float, *, within: bool) -> Iterator[str]:
        left = self._x(octave.to_us.bit_length() - 2)
        height = max(octave.count / most * (_BARS_PX - 14), 1.5)
        y = top + _BARS_PX - height
        tip = title(f"{counted(octave.count, 'gap')} of {time(octave.from_us)} to {time(octave.to_us)}")
        width = self._octave_px - _BAR_GAP_PX
        kind = "gap-bar within" if within else "gap-bar"
        yield element("rect", tip, class_=kind, x=left + _BAR_GAP_PX / 2, y=y, width=width, height=height)
        said = f"{octave.count:,}"
        if width_of(said, 10) <= self._octave_px:
            yield text(left + self._octave_px / 2, y - 3, said, "band", "middle")

    def _length_axis(self, bottom: float) -> Iterator[str]:
        """Yield marks of round lengths."""
        free = 0.0
        for length_us, said in _LENGTHS:
            x = self._x_of(length_us)
            if not _LEFT <= x <= _RIGHT:
                continue
            yield element("line", class_="axis", x1=x, y1=bottom, x2=x, y2=bottom + 5)
            half = width_of(said, _SIZE) / 2
            if x - half >= free:
                yield text(x, bottom + 17, said, "time", "middle")
                free = x + half + 4

    def _time_outs(self, session: SessionDescription, top: float, bottom: float) -> Iterator[str]:
        told = {each.time_out_us: each for each in session.time_outs}
        free = 0.0
        for time_out_us in self._marked_us:
            x = self._x_of(time_out_us)
            tip = title(f"{spell_time(time_out_us)}: {percent(told[time_out_us].share)} warm")
            yield element("line", tip, class_="time-out", x1=x, y1=top + _MARKS_PX - 4, x2=x, y2=bottom)
            said = spell_time(time_out_us)
            half = width_of(said, _SIZE) / 2
            if x - half >= free and x + half <= _RIGHT + _MARGIN:
                yield text(x, top + 10, said, "time-out-name", "middle")
                free = x + half + 3

    def _x(self, power: int) -> float:
        """Return the left of the octave that begins with a power of two. Gaps below 1 us begin with 2 ** -1."""
        return _LEFT + (power + 1 - self._first) * self._octave_px

    def _x_of(self, length_us: int) -> float:
        """Return the x of a length."""
        whole = length_us.bit_length() - 1
        # Within an octave the scale is linear by the logarithm.
        return self._x(whole) + (math.log2(length_us) - whole) * self._octave_px


def _warm(session: SessionDescription, top: float) -> Iterator[str]:
    """Yield how many inferences find the votes up, by sustain time."""
    parts = [f"{spell_time(each.time_out_us)} {percent(each.share)}" for each in session.time_outs]
    yield text(_LEFT, top + 12, f"inferences that find the votes up, by sustain time: {', '.join(parts)}", "faint")

"""A trace as an SVG: for each session a strip of time with its bursts, and a histogram of its gaps.

All sessions share a scale of time and a scale of lengths, so that they can be compared. Lengths are logarithmic: a bar
is an octave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.chart import STYLE, Chart, Scale
from htppower.tools.report.svg import WIDTH, shortened, svg, text
from htppower.tools.report.words import counted, duration, percent, plural, time
from htppower.tools.review.tuning.clock_lane import LANE_PX, draw_clock
from htppower.tools.review.tuning.trace_words import facts, headline, title
from htppower.tools.tuning.traces.patterns import begun, burst_spans, busy_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.tuning.traces.describe import SessionDescription, TraceDescription
    from htppower.tools.tuning.traces.trace import SessionTrace, Trace

_MARGIN = 16.0
_HEAD_PX = 62.0
# Within a session: the strip of time, the histogram, the line below it, and the end.
_STRIP, _BARS, _BELOW_PX, _SESSION_PX = (24.0, 58.0), (106.0, 190.0), 226.0, 242.0
# The most sessions to draw. The text shows more.
MOST_DRAWN = 6
_COLUMNS = 868
# The least height of a column that is not idle, as a part of the strip; and the height of the histogram as a multiple
# of its highest bar, which leaves room for the words above it.
_LOWEST, _ABOVE = 0.09, 1.2
_US = {
    "day": 86_400_000_000,
    "h": 3_600_000_000,
    "min": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
# Labels of lengths: decades up to 10 s, and then round times, which are about as far apart.
_LENGTHS = {
    **{10**exponent: duration(10**exponent) for exponent in range(8)},
    **{count * _US[unit]: f"{count} {unit}" for unit in ("min", "h") for count in (1, 10)},
    **{10**exponent * _US["day"]: f"{10**exponent} {plural(10**exponent, 'day')}" for exponent in range(6)},
}
# A scale of time is at least so many units long, and has at most so many labels.
_FEWEST_UNITS, _MOST_TICKS = 5, 13


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
    parts: list[str] = []
    top = _HEAD_PX if head else _MARGIN / 2
    if head:
        room = WIDTH - 2 * _MARGIN
        parts.append(text(_MARGIN, 28, shortened(described.source, 18, room), "name"))
        parts.append(text(_MARGIN, 48, shortened(headline(described), 13, room), "summary"))
    begin_us = min(each.begin_us for each in drawn)
    end_us = max(*(each.end_us for each in drawn), begin_us + 1)
    lengths = _lengths(drawn)
    for session in drawn:
        parts.append(text(_MARGIN, top + 16, shortened(title(session), 12, WIDTH / 2), "voted"))
        said = f"{counted(session.inferences, 'inference')} in {time(session.span_us)}"
        parts.append(text(WIDTH - _MARGIN, top + 16, said, "faint", "end"))
        parts += _strip(traces[session.name], session, (begin_us, end_us), top)
        parts += _histogram(session, lengths, top)
        warm = ", ".join(f"{duration(each.time_out_us)} {percent(each.share)}" for each in session.time_outs)
        says = f"inferences that find the votes up, by sustain time: {warm}"
        parts.append(text(_MARGIN, top + _BELOW_PX, says, "faint"))
        top += _SESSION_PX
    for clock in trace.clocks:
        # A strip of time begins at 0.
        lane = draw_clock(clock.since(begin_us), _time_scale(end_us - begin_us), top)
        parts += lane
        top += LANE_PX if lane else 0
    left_out = len(described.sessions) - len(drawn)
    if left_out:
        parts.append(text(_MARGIN, top + 14, f"{counted(left_out, 'more session')} not drawn here", "faint"))
    says = f"Inferences and gaps of {described.source}"
    height = round(top + (20 if left_out else 0) + _MARGIN / 2)
    return svg(name, says, _in_words(described, drawn), height, parts, more_style=STYLE)


def _in_words(described: TraceDescription, drawn: Sequence[SessionDescription]) -> str:
    """Return the picture in words, for readers who can't see it."""
    said = (f"{title(each)}: {'; '.join(f'{label} {fact}' for label, fact in facts(each))}" for each in drawn)
    return f"{headline(described)}. {'. '.join(said)}."


def _strip(trace: SessionTrace, session: SessionDescription, within_us: tuple[int, int], top: float) -> list[str]:
    """Return when the session was busy, in columns as high as the busy share of time, with the bursts behind."""
    begin_us, end_us = within_us
    area = (top + _STRIP[0], top + _STRIP[1])
    chart = Chart(("", _time_scale(end_us - begin_us)), ("busy", Scale(0, 1, False, marks=())), area)
    if session.bursts is not None:
        for begin, end, count in _bursts(trace, session.bursts.below_us, (end_us - begin_us) / _COLUMNS):
            chart.bar(begin - begin_us, end - begin_us, 1, "burst", counted(count, "burst"))
    shares = busy_shares(trace, begin_us, end_us, _COLUMNS).tolist()
    counts = begun(trace, begin_us, end_us, _COLUMNS).tolist()
    heights = [max(share, _LOWEST) if share > 0 or count else 0.0 for share, count in zip(shares, counts, strict=True)]
    tip = f"busy {percent(session.busy_us / max(session.span_us, 1))} of {time(session.span_us)}"
    chart.columns(heights, "busy", tip)
    return chart.drawn()


def _bursts(trace: SessionTrace, below_us: int, apart_us: float) -> list[tuple[int, int, int]]:
    """Return begin, end and count of the bursts. Bursts that are too close to be shown apart are one."""
    bands: list[tuple[int, int, int]] = []
    begins_us, ends_us = burst_spans(trace, below_us)
    for begin_us, end_us in zip(begins_us.tolist(), ends_us.tolist(), strict=True):
        if bands and begin_us - bands[-1][1] < apart_us:
            bands[-1] = (bands[-1][0], max(end_us, bands[-1][1]), bands[-1][2] + 1)
        else:
            bands.append((begin_us, end_us, 1))
    return bands


def _time_scale(whole_us: int) -> Scale:
    """Return the scale of time, in the largest unit that fits into it several times."""
    unit = next((unit for unit, size_us in _US.items() if whole_us >= _FEWEST_UNITS * size_us), "us")
    units = whole_us / _US[unit]
    step = next(
        factor * 10**power for power in range(20) for factor in (1, 2, 5) if units <= _MOST_TICKS * factor * 10**power
    )
    counts = range(0, int(units) + 1, step)
    labels = {count * _US[unit]: f"{count} {plural(count, unit) if unit == 'day' else unit}" for count in counts}
    return Scale(0, whole_us, False, lambda time_us: labels[int(time_us)], tuple(labels))


def _lengths(sessions: Sequence[SessionDescription]) -> Scale:
    """Return a scale that holds the octaves of all sessions, and the sustain times."""
    ends = [end for each in sessions for octave in each.octaves for end in (octave.from_us or 0.5, octave.to_us)]
    ends += [each.time_out_us for each in sessions[0].time_outs if each.time_out_us]
    return Scale(min(ends), max(ends) * 1.1, True, lambda length_us: _LENGTHS[int(length_us)], tuple(_LENGTHS))


def _histogram(session: SessionDescription, lengths: Scale, top: float) -> list[str]:
    """Return a bar for each octave of gaps, with the sustain times as lines."""
    most = max((octave.count for octave in session.octaves), default=0) or 1
    total = sum(octave.count for octave in session.octaves)
    up = (f"{total:,} {plural(total, 'gap')}", Scale(0, most * _ABOVE, False, marks=()))
    chart = Chart(("", lengths), up, (top + _BARS[0], top + _BARS[1]))
    within_us = 0 if session.bursts is None else session.bursts.below_us
    for octave in session.octaves:
        if octave.count:
            tip = f"{counted(octave.count, 'gap')} of {time(octave.from_us)} to {time(octave.to_us)}"
            kind = "gap-bar within" if octave.from_us < within_us else "gap-bar"
            chart.bar(octave.from_us or 0.5, octave.to_us, octave.count, kind, tip, f"{octave.count:,}")
    for each in session.time_outs:
        if each.time_out_us:
            chart.across(each.time_out_us, "limit", duration(each.time_out_us))
    return chart.drawn()

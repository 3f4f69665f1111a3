"""The content of a trace, in words that the text and the page share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import counted, percent, three_digits, time
from htppower.tools.tuning.traces.patterns import FEWEST_INTERVALS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.traces.describe import SessionDescription, Spread, TraceDescription

FORMAT_NAMES = {
    "htppower": "recorded by htppower",
    "loadgen": "a run of LoadGen",
    "onnxruntime": "a profile of ONNX Runtime",
    "chrome": "trace events",
    "csv": "a table",
}
# If the rate is lower, only the interval is shown.
_SLOWEST_HZ = 0.1


def more_sessions(count: int, how: str) -> str:
    """Return a sentence about the sessions that are left out."""
    are = "is" if count == 1 else "are"
    return f"{counted(count, 'more session')} {are} not {how} here; --format json has every one."


def headline(described: TraceDescription) -> str:
    """Return a sentence about a trace."""
    begins = min(each.begin_us for each in described.sessions)
    ends = max(each.end_us for each in described.sessions)
    return (
        f"{counted(described.inferences, 'inference')} of {counted(len(described.sessions), 'session')} "
        f"in {time(ends - begins)}, {FORMAT_NAMES[described.format]}"
    )


def title(session: SessionDescription) -> str:
    """Return the name of a session, with its profile if it has one."""
    return session.name if session.profile is None else f"{session.name}, {session.profile}"


def facts(session: SessionDescription) -> Iterator[tuple[str, str]]:
    """Yield the facts of a session, as labels and texts."""
    overlap = f"; {session.overlapping:,} began while another ran" if session.overlapping else ""
    busy = f", busy {percent(session.busy_us / session.span_us)} of it" if session.span_us else ""
    yield "inferences", f"{session.inferences:,} in {time(session.span_us)}{busy}{overlap}"
    if session.durations.most_us:
        yield "duration", _spread(session.durations)
    yield "gaps", "none: it is never idle" if session.gaps is None else _spread(session.gaps)
    bursts = session.bursts
    if bursts is not None:
        said = f"{counted(bursts.count, 'burst')} of {counted(bursts.inferences, 'inference')} (median)"
        within = f"{percent(bursts.share)} of the gaps are within one, below {time(bursts.below_us)}"
        yield "bursts", f"{said}, {time(bursts.pause_us)} apart; {within}"
    elif session.gaps is not None:
        yield "bursts", "none: gaps are not either short or long"
    yield "period", _period(session)
    if session.cold is not None:
        yield "cold", f"{session.cold:,} waited for a raise, {percent(session.cold / session.inferences)}"


def _spread(spread: Spread) -> str:
    return (
        f"median {time(spread.median_us)}, 80 % from {time(spread.p10_us)} to {time(spread.p90_us)}, "
        f"p99 {time(spread.p99_us)}, longest {time(spread.most_us)}"
    )


def _period(session: SessionDescription) -> str:
    period = session.period
    if period is None:
        if session.inferences <= FEWEST_INTERVALS:
            return "none: too few inferences to tell"
        return f"none: {percent(session.regular_share)} of the intervals are within 5 % of the median"
    rate = f" ({three_digits(period.hz)} Hz)" if period.hz >= _SLOWEST_HZ else ""
    return (
        f"{time(period.interval_us)}{rate}, jitter {time(period.jitter_us)}: "
        f"{percent(period.share)} of the intervals are within 5 % of the median"
    )

"""Describes a trace: lengths of inferences and gaps, bursts, a period, and the effect of some fixed time-outs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.tools.tuning.traces.patterns import Bursts, Period, find_bursts, find_period

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.traces.trace import SessionTrace, Trace

# In us. The shipped profiles lower at once or after 300 ms; the others are typical choices of hosts.
TIME_OUTS_US = (0, 20_000, 50_000, 100_000, 300_000)


@attrs.frozen
class Spread:
    """How long something takes, in us: its shortest, quantiles, and its longest."""

    least_us: int
    p10_us: int
    median_us: int
    p90_us: int
    p99_us: int
    most_us: int


@attrs.frozen
class Octave:
    """The number and the total length of the gaps from ``from_us`` to below ``to_us``, which is twice as long."""

    from_us: int
    to_us: int
    count: int
    total_us: int


@attrs.frozen
class TimeOut:
    """The effect that a fixed sustain time would have on a trace.

    Attributes:
        time_out_us: the sustain time.
        warm: how many inferences would find the votes up. The first never does. An inference that begins in the same
            microsecond as the timer expires does not either, since the timer is handled first.
        share: the share of all inferences that would, 0 to 1.
        idle_us: how long the votes would be up without an inference, until the begin of the last inference.
    """

    time_out_us: int
    warm: int
    share: float
    idle_us: int


@attrs.frozen
class SessionDescription:
    """The description of the trace of one session.

    Attributes:
        name, profile: the name and the profile in the trace.
        inferences: how many inferences there are.
        overlapping: how many inferences began while another was running.
        begin_us, end_us: the first begin, and the last end.
        busy_us: how long at least one inference was running.
        durations: how long an inference takes.
        gaps: how long the gaps between inferences are; None if there are none.
        octaves: the gaps counted by length, from the shortest to the longest, including empty octaves between.
        bursts, period: the pattern of the inferences; None if not found.
        regular_share: the share of the intervals from begin to begin that are within 5 % of the median, 0 to 1.
        cold: how many inferences waited for a raise; None if the trace does not show it.
        time_outs: the effect of some fixed sustain times.
    """

    name: str
    profile: str | None
    inferences: int
    overlapping: int
    begin_us: int
    end_us: int
    busy_us: int
    durations: Spread
    gaps: Spread | None
    octaves: tuple[Octave, ...]
    bursts: Bursts | None
    period: Period | None
    regular_share: float
    cold: int | None
    time_outs: tuple[TimeOut, ...]

    @property
    def span_us(self) -> int:
        """The time from the first begin to the last end."""
        return self.end_us - self.begin_us


@attrs.frozen
class TraceDescription:
    """The description of a trace; the session with the most inferences is first."""

    source: str
    format: str
    notes: tuple[str, ...]
    sessions: tuple[SessionDescription, ...]

    @property
    def inferences(self) -> int:
        """How many inferences all sessions have."""
        return sum(each.inferences for each in self.sessions)


def describe(trace: Trace) -> TraceDescription:
    """Return the description of a trace."""
    sessions = sorted(map(describe_session, trace.sessions), key=lambda each: -each.inferences)
    return TraceDescription(trace.source, trace.format, trace.notes, tuple(sessions))


def describe_session(session: SessionTrace) -> SessionDescription:
    """Return the description of a session with at least one inference."""
    busy_begins_us, busy_ends_us = session.busy_us()
    gaps_us = busy_begins_us[1:] - busy_ends_us[:-1]
    count = int(session.begins_us.size)
    regular_share, period = find_period(np.diff(session.begins_us))
    return SessionDescription(
        name=session.name,
        profile=session.profile,
        inferences=count,
        overlapping=count - int(busy_begins_us.size),
        begin_us=int(session.begins_us[0]),
        end_us=int(busy_ends_us[-1]),
        busy_us=int((busy_ends_us - busy_begins_us).sum()),
        durations=_spread(session.ends_us - session.begins_us),
        gaps=_spread(gaps_us) if gaps_us.size else None,
        octaves=octaves(gaps_us),
        bursts=find_bursts(session.begins_us, busy_begins_us, gaps_us),
        period=period,
        regular_share=regular_share,
        cold=None if session.cold is None else int(session.cold.sum()),
        time_outs=tuple(_time_out(time_out_us, gaps_us, count) for time_out_us in TIME_OUTS_US),
    )


def octaves(gaps_us: NDArray[np.int64]) -> tuple[Octave, ...]:
    """Return the gaps by octaves of their length: below 1 us, from 1 us, 2 us, 4 us and so on."""
    if not gaps_us.size:
        return ()
    # Exact, since a float represents a power of two without an error.
    places = np.frexp(gaps_us.astype(np.float64))[1]
    first, last = int(places.min()), int(places.max())
    counts = np.bincount(places - first)
    return tuple(
        Octave(
            (1 << place) >> 1,
            1 << place,
            int(counts[place - first]),
            int(gaps_us[places == place].sum()),
        )
        for place in range(first, last + 1)
    )


def _spread(times_us: NDArray[np.int64]) -> Spread:
    """Return the quantiles; each is one of the measured times."""
    shares = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
    return Spread(*(int(each) for each in np.quantile(times_us, shares, method="inverted_cdf")))


def _time_out(time_out_us: int, gaps_us: NDArray[np.int64], count: int) -> TimeOut:
    cold = int((gaps_us >= time_out_us).sum()) + 1
    return TimeOut(time_out_us, count - cold, (count - cold) / count, int(np.minimum(gaps_us, time_out_us).sum()))

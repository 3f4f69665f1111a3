"""The values of a trace: when the inferences of each session began and ended. Also parts and changes of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.traces.clocks import ClockTrace


# A recording with fewer gaps is too short to be cut.
FEWEST_GAPS = 200


@attrs.frozen(eq=False)
class SessionTrace:
    """The inferences of one session, sorted by their begin.

    Attributes:
        name: the session's owner, number or model, depending on the trace.
        profile: the profile that the session used; None if the trace does not show it.
        begins_us: when each inference began, in us since any start; sorted.
        ends_us: when each inference ended, no earlier than it began.
        cold: whether each inference waited for a raise; None if the trace does not show it.
        one_at_a_time: whether no two inferences of the recording overlap. A part has the value of its recording.
    """

    name: str
    profile: str | None
    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]
    cold: NDArray[np.bool] | None = None
    one_at_a_time: bool = attrs.field(
        kw_only=True,
        default=attrs.Factory(lambda made: bool((made.begins_us[1:] >= made.ends_us[:-1]).all()), takes_self=True),
    )

    def busy_us(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when the session became busy, and when it became idle again; overlapping inferences are merged.

        If an inference begins in the same microsecond as the last one ends, there is a gap of 0 between them.
        """
        if not self.begins_us.size:
            return self.begins_us, self.ends_us
        latest_us = np.maximum.accumulate(self.ends_us)
        idle_before = np.flatnonzero(self.begins_us[1:] >= latest_us[:-1])
        first = np.concatenate(([0], idle_before + 1))
        last = np.concatenate((idle_before, [self.ends_us.size - 1]))
        return self.begins_us[first], latest_us[last]

    def gaps_us(self) -> NDArray[np.int64]:
        """Return how long the session was idle between its busy times, in us."""
        begins_us, ends_us = self.busy_us()
        return begins_us[1:] - ends_us[:-1]


@attrs.frozen(eq=False)
class Trace:
    """The content of a trace file.

    Attributes:
        source: the file, for messages.
        format: ``htppower``, ``loadgen``, ``onnxruntime``, ``chrome`` or ``csv``.
        sessions: the inferences, by session.
        notes: what was left out, and why.
        clocks: the measured clocks, by source; only a recording of htppower has them.
    """

    source: str
    format: str
    sessions: tuple[SessionTrace, ...]
    notes: tuple[str, ...] = ()
    clocks: tuple[ClockTrace, ...] = ()


def tuned_and_rest(session: SessionTrace) -> tuple[SessionTrace, SessionTrace | None]:
    """Return the first two thirds of a recording and the rest; the whole recording and None if it is too short.

    The first part has two thirds of the gaps. The cut lies in a gap, so no inference is cut.
    """
    begins_us, _ = session.busy_us()
    if begins_us.size - 1 < FEWEST_GAPS:
        return session, None
    cut = int(np.searchsorted(session.begins_us, begins_us[2 * begins_us.size // 3]))
    return part_of(session, slice(cut)), part_of(session, slice(cut, None))


def begin_of(session: SessionTrace, most: int) -> SessionTrace:
    """Return the first inferences of a session, at most ``most``."""
    return part_of(session, slice(most))


def with_longer_gaps(session: SessionTrace, factor: float) -> SessionTrace:
    """Return a session with each gap ``factor`` times as long. The inferences between two gaps keep their length."""
    begins_us, _ = session.busy_us()
    moved_us = np.concatenate(([0], np.cumsum(np.rint(session.gaps_us() * (factor - 1)).astype(np.int64))))
    of_each = moved_us[np.searchsorted(begins_us, session.begins_us, side="right") - 1]
    return attrs.evolve(session, begins_us=session.begins_us + of_each, ends_us=session.ends_us + of_each)


def part_of(session: SessionTrace, part: slice) -> SessionTrace:
    """Return some inferences of a session."""
    return attrs.evolve(
        session,
        begins_us=session.begins_us[part],
        ends_us=session.ends_us[part],
        cold=None if session.cold is None else session.cold[part],
    )

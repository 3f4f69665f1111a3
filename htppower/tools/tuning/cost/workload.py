"""The inferences of a session as they would run under another profile: when they are requested, and how long they take.

The host requests each inference at the same time as in the recording. If no two inferences overlap in the recording,
the host runs one at a time, and each waits for the one before; otherwise they run side by side. A raise delays the
inferences that wait for it, and these delay the inferences that wait for them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.traces.trace import SessionTrace


@attrs.frozen
class Timing:
    """How long inferences take under a profile, compared with the recording.

    Attributes:
        stretch: the factor from the recorded length to the length under the profile.
        late_us: the delay of an inference that waits for a raise.
        cold_us: the delay, in the recording, of an inference that waited for a raise.
        wake_us: how much longer an inference after an idle time takes than in the recording, with the votes up.
        polling_saves_us: how much sooner an answer arrives with polling.
        polled_us, polls_us: how long the CPU polls for an answer, in the recording and under the profile.
    """

    stretch: float = 1.0
    late_us: int = 0
    cold_us: int = 0
    wake_us: int = 0
    polling_saves_us: int = 0
    polled_us: int = 0
    polls_us: int = 0


@attrs.frozen(eq=False, slots=False)
class Workload:
    """The inferences of a session under a profile, while its votes are up all the time.

    Attributes:
        asked_us: when each inference is requested; sorted.
        takes_us: how long each inference runs.
        one_at_a_time: whether each inference waits for the one before.
        late_us: the delay of an inference that waits for a raise.
    """

    asked_us: NDArray[np.int64]
    takes_us: NDArray[np.int64]
    one_at_a_time: bool
    late_us: int

    @classmethod
    def of(cls, session: SessionTrace, timing: Timing) -> Workload:
        """Return the inferences of a recorded session as they run under a profile."""
        alone = session.one_at_a_time
        takes = session.ends_us - session.begins_us
        if session.cold is not None and timing.cold_us:
            takes = np.where(session.cold, np.maximum(takes - timing.cold_us, 0), takes)
        polled = takes <= timing.polled_us
        takes = np.rint(takes * timing.stretch).astype(np.int64)
        if bool(timing.polled_us) != bool(timing.polls_us) and timing.polling_saves_us:
            saves = np.minimum(timing.polling_saves_us, takes)
            takes = np.where(polled, takes + timing.polling_saves_us, takes) if timing.polled_us else takes
            takes = np.where((takes > 0) & (takes <= timing.polls_us), takes - saves, takes)
        if timing.wake_us:
            after_idle = alone or np.isin(session.begins_us, session.busy_us()[0])
            takes = np.where(after_idle, np.maximum(takes + timing.wake_us, 0), takes)
        return cls(session.begins_us, takes, alone, timing.late_us)

    @property
    def count(self) -> int:
        """How many inferences there are."""
        return int(self.asked_us.size)

    @functools.cached_property
    def begins_us(self) -> NDArray[np.int64]:
        """When each inference begins if the votes are up: when it is requested, or when the one before it ends."""
        if not self.one_at_a_time or not self.count:
            return self.asked_us
        return in_line(self.asked_us, self.takes_us)

    @functools.cached_property
    def ends_us(self) -> NDArray[np.int64]:
        """When each inference ends if the votes are up."""
        return self.begins_us + self.takes_us

    @functools.cached_property
    def periods(self) -> Periods:
        """The times while at least one inference runs."""
        if not self.count:
            nothing = np.zeros(0, np.int64)
            return Periods(nothing, nothing, nothing)
        # The ends of inferences that run one at a time are sorted.
        latest_us = self.ends_us if self.one_at_a_time else np.maximum.accumulate(self.ends_us)
        idle_before = np.flatnonzero(self.asked_us[1:] >= latest_us[:-1]) + 1
        first = np.concatenate((np.zeros(1, np.int64), idle_before))
        last = np.concatenate((idle_before - 1, np.array([self.count - 1])))
        return Periods(first, self.asked_us[first], latest_us[last])


@attrs.frozen(eq=False, slots=False)
class Periods:
    """Busy times, one after another.

    Attributes:
        first: the number of the first inference of each busy time.
        begins_us, ends_us: when each busy time begins, and when it ends if nothing is delayed.
    """

    first: NDArray[np.int64]
    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many busy times there are."""
        return int(self.first.size)

    @functools.cached_property
    def gaps_us(self) -> NDArray[np.int64]:
        """The gaps between the busy times."""
        return self.begins_us[1:] - self.ends_us[:-1]


def in_line(asked_us: NDArray[np.int64], takes_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return when each of several inferences that run one at a time begins: when requested, or when the last ends."""
    # An inference begins when all the work since the last idle moment is done.
    run_before = np.cumsum(takes_us) - takes_us
    begins: NDArray[np.int64] = np.maximum.accumulate(asked_us - run_before) + run_before
    return begins

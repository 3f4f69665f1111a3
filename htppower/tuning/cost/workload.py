"""The inferences of a session as they would run under another profile: when they are asked for, and how long they take.

The host asks for each inference when it did in the recording. Where no two of them ever overlapped there, the host runs
one at a time, and each waits for the one before; otherwise all run side by side. What a raise keeps waiting is moved by
it, and all that it keeps waiting in turn.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tuning.traces.trace import SessionTrace


@attrs.frozen
class Timing:
    """How long inferences take under a profile, beside how long they took where they were recorded.

    Attributes:
        stretch: how many times as long as recorded.
        late_us: how much later an inference is that waits for a raise.
        cold_us: by how much those were late in the recording that had waited for a raise.
        wake_us: how much longer than recorded an inference takes that begins after idle, with the votes up.
        polling_saves_us: how much sooner an answer is there with polling than without.
        polled_us, polls_us: how long the CPU polled for an answer in the recording, and polls now.
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
        asked_us: when each is asked for; sorted.
        takes_us: how long each runs.
        one_at_a_time: whether each waits for the one before.
        late_us: how much later one begins that waits for a raise.
    """

    asked_us: NDArray[np.int64]
    takes_us: NDArray[np.int64]
    one_at_a_time: bool
    late_us: int

    @classmethod
    def of(cls, session: SessionTrace, timing: Timing) -> Workload:
        """Return the inferences of a recorded session as they run under a profile."""
        busy_us, _ = session.busy_us()
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
            after_idle = np.isin(session.begins_us, busy_us)
            takes = np.where(after_idle, np.maximum(takes + timing.wake_us, 0), takes)
        # Each busy time holds one inference where none overlap.
        alone = busy_us.size == session.begins_us.size
        return cls(session.begins_us, takes, alone, timing.late_us)

    @property
    def count(self) -> int:
        """How many inferences there are."""
        return int(self.asked_us.size)

    @functools.cached_property
    def begins_us(self) -> NDArray[np.int64]:
        """When each begins to run, its votes being up: when it is asked for, or when the one before it has ended."""
        if not self.one_at_a_time or not self.count:
            return self.asked_us
        return in_line(self.asked_us, self.takes_us)

    @functools.cached_property
    def ends_us(self) -> NDArray[np.int64]:
        """When each ends, its votes being up."""
        return self.begins_us + self.takes_us

    @functools.cached_property
    def periods(self) -> Periods:
        """The times in which at least one runs."""
        if not self.count:
            nothing = np.zeros(0, np.int64)
            return Periods(nothing, nothing, nothing)
        latest_us = np.maximum.accumulate(self.ends_us)
        idle_before = np.flatnonzero(self.asked_us[1:] >= latest_us[:-1]) + 1
        first = np.concatenate((np.zeros(1, np.int64), idle_before))
        last = np.concatenate((idle_before - 1, np.array([self.count - 1])))
        return Periods(first, self.asked_us[first], latest_us[last])


@attrs.frozen(eq=False, slots=False)
class Periods:
    """Busy times, one after another.

    Attributes:
        first: the number of the first inference of each.
        begins_us, ends_us: when each begins, and ends where nothing is late.
    """

    first: NDArray[np.int64]
    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.first.size)

    @functools.cached_property
    def gaps_us(self) -> NDArray[np.int64]:
        """How long nothing runs between each and the next."""
        return self.begins_us[1:] - self.ends_us[:-1]


def in_line(asked_us: NDArray[np.int64], takes_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return when each begins of what is run one at a time: when it is asked for, or when the one before has ended."""
    # It ends after all that is run since the last moment at which nothing waited.
    run_before = np.cumsum(takes_us) - takes_us
    begins: NDArray[np.int64] = np.maximum.accumulate(asked_us - run_before) + run_before
    return begins

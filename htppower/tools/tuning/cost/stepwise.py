"""The run of a session, calculated gap by gap: works for every setting, even learnt time-outs and slow raises."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Protocol

import numpy as np

from htppower.tools.tuning.cost.outcome import Run
from htppower.tools.tuning.cost.workload import in_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from htppower.tools.tuning.cost.workload import Workload


_TOGETHER = 2**16


class Learns(Protocol):
    """A learner: it chooses a time-out, and learns from each gap."""

    time_out_us: int

    def learn(self, gap_us: int) -> None:
        """Learn from a gap."""


class Fixed:
    """A fixed time-out."""

    def __init__(self, time_out_us: int) -> None:
        self.time_out_us = time_out_us

    def learn(self, gap_us: int) -> None:
        """Learn nothing."""


def run_stepwise(workload: Workload, learner: Learns) -> Run:
    """Return the run of a session with a learner that chooses the time-outs.

    The session is idle for a gap, which may be 0, from the end of its last inference to the begin of the next. If the
    gap is at least as long as the time-out, the votes are lowered when the time-out has passed.
    """
    if workload.one_at_a_time:
        return _run_one_at_a_time(workload, learner)
    return _run_side_by_side(workload, learner)


def run_lowered_at_once(workload: Workload) -> Run:
    """Return the run of a session whose votes are lowered at the end of each inference."""
    if not workload.one_at_a_time:
        return _run_side_by_side(workload, Fixed(0))
    # Each inference waits for a raise, and for the inferences before it.
    takes = workload.takes_us + workload.late_us
    raised = in_line(workload.asked_us, takes)
    ends = raised + takes
    return Run(np.arange(workload.count), raised, ends, raised + workload.late_us, ends, ends - workload.ends_us)


def _run_one_at_a_time(workload: Workload, learner: Learns) -> Run:
    """Return the run of a host whose inferences wait for each other; the gap before one that waited is 0."""
    late_us = workload.late_us
    cold, raised_us, lowered_us, begins = (array("q") for _ in range(4))
    learn = learner.learn
    time_out_us = learner.time_out_us
    end_us = 0
    for number, (asked_us, takes_us) in enumerate(
        zip(_integers(workload.asked_us), _integers(workload.takes_us), strict=True)
    ):
        gap_us = asked_us - end_us
        begin_us = asked_us
        if number:
            if gap_us < 0:
                gap_us, begin_us = 0, end_us
            waits = gap_us >= time_out_us
            if waits:
                lowered_us.append(end_us + time_out_us)
            learn(gap_us)
            time_out_us = learner.time_out_us
        else:
            waits = True
        if waits:
            cold.append(number)
            raised_us.append(begin_us)
            begin_us += late_us
        begins.append(begin_us)
        end_us = begin_us + takes_us
    if begins:
        lowered_us.append(end_us + time_out_us)
    begun = _array(begins)
    ends = begun + workload.takes_us
    return Run(_array(cold), _array(raised_us), _array(lowered_us), begun, ends, ends - workload.ends_us)


def _run_side_by_side(workload: Workload, learner: Learns) -> Run:
    """Return the run of a host whose inferences overlap: none begins before the votes take effect."""
    periods = workload.periods
    first = np.append(periods.first, workload.count)
    # ``ready``: when the last raise before each busy time takes effect.
    cold, lowered_us, ready = (array("q") for _ in range(3))
    ready_us = end_us = 0
    for place, (begin_us, ends_us) in enumerate(
        zip(_integers(periods.begins_us), _integers(periods.ends_us), strict=True)
    ):
        gap_us, time_out_us = begin_us - end_us, learner.time_out_us
        if not place or gap_us >= max(time_out_us, 0):
            if place:
                lowered_us.append(end_us + time_out_us)
            cold.append(place)
            ready_us = begin_us + workload.late_us
        if place and gap_us >= 0:
            learner.learn(gap_us)
        ready.append(ready_us)
        moved_us = ends_us
        if ready_us > begin_us:
            of_it = slice(first[place], first[place + 1])
            moved_us = int((np.maximum(workload.begins_us[of_it], ready_us) + workload.takes_us[of_it]).max())
        end_us = moved_us if not place else max(end_us, moved_us)
    if periods.count:
        lowered_us.append(end_us + learner.time_out_us)
    starts = _array(cold)
    begins = np.maximum(workload.begins_us, np.repeat(_array(ready), np.diff(first)))
    after = begins + workload.takes_us
    return Run(
        periods.first[starts],
        periods.begins_us[starts],
        _array(lowered_us),
        begins,
        after,
        after - workload.ends_us,
    )


def _integers(values: NDArray[np.int64]) -> Iterator[int]:
    """Yield values as Python integers. They take four times the memory, so they are made in parts."""
    for start in range(0, values.size, _TOGETHER):
        yield from values[start : start + _TOGETHER].tolist()


def _array(values: array[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def run_from_cold(workload: Workload, cold: NDArray[np.int64], time_out_us: int) -> Run:
    """Return the run of a session under a time-out of 20 ms or more, given which of its busy times are cold."""
    periods = workload.periods
    raised_at = np.zeros(periods.count, np.int64)
    raised_at[cold] = np.arange(cold.size)
    last_cold = cold[np.maximum.accumulate(raised_at)]
    sizes = np.diff(periods.first, append=workload.count)
    if workload.one_at_a_time:
        # The delay of a raise shrinks by each idle time after it.
        idle_before = np.concatenate((np.zeros(1, np.int64), np.cumsum(periods.gaps_us)))
        moved = np.maximum(workload.late_us - (idle_before - idle_before[last_cold]), 0)
        begins = workload.begins_us + np.repeat(moved, sizes)
    else:
        ready = periods.begins_us[last_cold] + workload.late_us
        begins = np.maximum(workload.begins_us, np.repeat(ready, sizes))
    ends = begins + workload.takes_us
    latest_us = ends if workload.one_at_a_time else np.maximum.accumulate(ends)
    before = latest_us[periods.first[cold[1:]] - 1]
    lowered = np.concatenate((before, latest_us[-1:])) + time_out_us
    return Run(periods.first[cold], periods.begins_us[cold], lowered, begins, ends, ends - workload.ends_us)

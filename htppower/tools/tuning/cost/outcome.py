"""The outcome of a session under one setting, or under each of many: raises, calls, how long its votes are up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CALLS_OF_A_RAISE = 2


@attrs.frozen(eq=False)
class Outcomes:
    """The outcome of a session under each of some time-outs: a place of each array belongs to one time-out.

    Attributes:
        tail_us: how long the votes stay up after the last inference has ended: the fixed or learnt time-out.
        cold: how many inferences wait for a raise, including the first one.
        raised_us: how long the votes are up, until they are lowered after the last inference.
        busy_us: how long at least one inference runs.
        waits_us: the sum of the delays of all inferences, compared with votes that are always up.
    """

    tail_us: NDArray[np.int64]
    cold: NDArray[np.int64]
    raised_us: NDArray[np.int64]
    busy_us: NDArray[np.int64]
    waits_us: NDArray[np.int64]

    @property
    def calls(self) -> NDArray[np.int64]:
        """How many setPowerConfig calls with clocks are made on each core: two for each cold start."""
        return CALLS_OF_A_RAISE * self.cold

    def joined(self, others: Outcomes) -> Outcomes:
        """Return these outcomes, then the others."""
        mine, theirs = (attrs.astuple(each, recurse=False) for each in (self, others))
        return Outcomes(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))

    def scaled(self, factor: float) -> Outcomes:
        """Return estimated outcomes of a recording that is ``factor`` times as long."""
        sums = (self.cold, self.raised_us - self.tail_us, self.busy_us, self.waits_us)
        cold, raised_us, busy_us, waits_us = (np.rint(each * factor).astype(np.int64) for each in sums)
        return Outcomes(self.tail_us, cold, raised_us + self.tail_us, busy_us, waits_us)

    def taken(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Outcomes:
        """Return the outcomes at some places."""
        return Outcomes(*(each[places] for each in attrs.astuple(self, recurse=False)))


@attrs.frozen(eq=False)
class Run:
    """The outcome of a session under one setting, inference by inference.

    Attributes:
        cold: the numbers of the inferences that wait for a raise.
        raised_us, lowered_us: when the votes are raised, and when they are lowered after that.
        begins_us, ends_us: when each inference begins to run, and ends.
        waits_us: the delay of each inference, compared with votes that are always up.
    """

    cold: NDArray[np.int64]
    raised_us: NDArray[np.int64]
    lowered_us: NDArray[np.int64]
    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]
    waits_us: NDArray[np.int64]

    @property
    def up_us(self) -> int:
        """How long the votes are up."""
        return int((self.lowered_us - self.raised_us).sum())

    @property
    def busy_us(self) -> int:
        """How long at least one inference runs."""
        begins, ends = self.busy()
        return int((ends - begins).sum())

    def busy(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the begins and ends of the times while at least one inference runs."""
        return union(self.begins_us, self.ends_us)

    def outcome(self) -> Outcomes:
        """Return the sums over one or more inferences."""
        tail_us = int(self.lowered_us[-1] - self.ends_us.max())
        sums = (tail_us, self.cold.size, self.up_us, self.busy_us, int(self.waits_us.sum()))
        return Outcomes(*(np.array([each], np.int64) for each in sums))


def union(begins_us: NDArray[np.int64], ends_us: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begins and ends of the times that at least one span covers; the spans are sorted by their begins."""
    if not begins_us.size:
        return begins_us, ends_us
    latest_us = np.maximum.accumulate(ends_us)
    apart = np.flatnonzero(begins_us[1:] > latest_us[:-1])
    first = np.concatenate((np.zeros(1, np.int64), apart + 1))
    last = np.concatenate((apart, np.array([ends_us.size - 1])))
    return begins_us[first], latest_us[last]

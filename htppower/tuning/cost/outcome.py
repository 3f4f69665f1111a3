"""What a session does under one setting, or under each of many: raises, calls, how long its votes are up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CALLS_OF_A_RAISE = 2


@attrs.frozen(eq=False)
class Outcomes:
    """What a session does under each of some time-outs. One place of each array is one time-out.

    Attributes:
        tail_us: how long the votes stay up after the last inference has ended: the time-out, or what was learnt.
        cold: how many inferences wait for a raise, the first one included.
        raised_us: how long the votes are up, until they are lowered after the last inference.
        busy_us: how long inferences run, overlapping ones together.
        waits_us: how much later than with votes that are always up the inferences end, all together.
    """

    tail_us: NDArray[np.int64]
    cold: NDArray[np.int64]
    raised_us: NDArray[np.int64]
    busy_us: NDArray[np.int64]
    waits_us: NDArray[np.int64]

    @property
    def calls(self) -> NDArray[np.int64]:
        """How many setPowerConfig calls with clocks are made on each core: each raise is followed by a lowering."""
        return CALLS_OF_A_RAISE * self.cold

    def joined(self, others: Outcomes) -> Outcomes:
        """Return these and others."""
        mine, theirs = (attrs.astuple(each, recurse=False) for each in (self, others))
        return Outcomes(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))

    def taken(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Outcomes:
        """Return those at some places."""
        return Outcomes(*(each[places] for each in attrs.astuple(self, recurse=False)))


@attrs.frozen(eq=False)
class Run:
    """What a session does under one setting, inference by inference.

    Attributes:
        cold: the numbers of the inferences that wait for a raise.
        raised_us, lowered_us: when the votes are raised, and lowered again: as many of both.
        begins_us, ends_us: when each inference begins to run, and ends.
        waits_us: by how much each ends later than with votes that are always up.
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
        """How long inferences run, overlapping ones together."""
        begins, ends = self.busy()
        return int((ends - begins).sum())

    def busy(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when inferences run, as begins and ends of times in which at least one does."""
        return union(self.begins_us, self.ends_us)

    def outcome(self) -> Outcomes:
        """Return the sums; there is an inference at least."""
        tail_us = int(self.lowered_us[-1] - self.ends_us.max())
        sums = (tail_us, self.cold.size, self.up_us, self.busy_us, int(self.waits_us.sum()))
        return Outcomes(*(np.array([each], np.int64) for each in sums))


def union(begins_us: NDArray[np.int64], ends_us: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begins and ends of the times that spans cover together; the spans are sorted by their begins."""
    if not begins_us.size:
        return begins_us, ends_us
    latest_us = np.maximum.accumulate(ends_us)
    apart = np.flatnonzero(begins_us[1:] > latest_us[:-1])
    first = np.concatenate((np.zeros(1, np.int64), apart + 1))
    last = np.concatenate((apart, np.array([ends_us.size - 1])))
    return begins_us[first], latest_us[last]

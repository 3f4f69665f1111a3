"""Busy times that no timer can part: what lies between two of them is long enough for one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tuning.cost.outcome import union
from htppower.tuning.cost.stepwise import run_from_cold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tuning.cost.outcome import Run
    from htppower.tuning.cost.workload import Workload


@attrs.frozen(eq=False, slots=False)
class Blocks:
    """The blocks of a workload, each cold or not: whether its first inference waits for a raise.

    Attributes:
        workload: the inferences.
        first: the number of the first busy time of each block.
        gaps_us: the gaps between them where nothing is late.
        late_us: how much later each block ends if it is cold.
    """

    workload: Workload
    first: NDArray[np.int64]
    gaps_us: NDArray[np.int64]
    late_us: NDArray[np.int64]
    all_cold: Run

    @classmethod
    def of(cls, workload: Workload) -> Blocks:
        """Return the blocks of a workload; it has an inference at least.

        Raises:
            ValueError: a raise may be late by more than the shortest gap between blocks makes up for.
        """
        if not fits(workload):
            raise ValueError(f"a raise is {workload.late_us} us late: {SHORTEST_SUSTAIN_US} us at most")
        periods = workload.periods
        long = periods.gaps_us >= SHORTEST_SUSTAIN_US
        first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(long) + 1))
        cold = run_from_cold(workload, first, 0)
        last = np.concatenate((first[1:], np.array([periods.count]))) - 1
        return cls(workload, first, periods.gaps_us[long], cold.lowered_us - periods.ends_us[last], cold)

    @functools.cached_property
    def block_of_each(self) -> NDArray[np.int64]:
        """The block of each inference."""
        return np.repeat(np.arange(self.first.size), np.diff(self._starts, append=self.workload.count))

    @functools.cached_property
    def warm_busy_us(self) -> int:
        """How long inferences run where no block is cold."""
        if self.workload.one_at_a_time:
            return int(self.workload.takes_us.sum())
        begins, ends = union(self.workload.begins_us, self.workload.ends_us)
        return int((ends - begins).sum())

    @functools.cached_property
    def cold_busy_us(self) -> NDArray[np.int64]:
        """By how much longer the inferences of each block run together if it is cold: less where more overlap."""
        if self.workload.one_at_a_time:
            return np.zeros(self.first.size, np.int64)
        return self._busy(self.all_cold.begins_us, self.all_cold.ends_us) - self._busy(
            self.workload.begins_us, self.workload.ends_us
        )

    @functools.cached_property
    def waits_us(self) -> NDArray[np.int64]:
        """How much later the inferences of each block end, all together, if it is cold."""
        return np.add.reduceat(self.all_cold.waits_us, self._starts)

    def later_than(self, latency_us: int) -> tuple[int, NDArray[np.int64]]:
        """Return how many inferences take longer than that where none is cold, and how many more by each cold block."""
        warm = self.warm_latencies_us > latency_us
        more = (self.cold_latencies_us > latency_us).astype(np.int64) - warm
        return int(warm.sum()), np.add.reduceat(more, self._starts)

    @functools.cached_property
    def warm_latencies_us(self) -> NDArray[np.int64]:
        """How long after it is asked for each inference ends where no block is cold."""
        return self.workload.ends_us - self.workload.asked_us

    @functools.cached_property
    def cold_latencies_us(self) -> NDArray[np.int64]:
        """The same where every block is cold."""
        return self.all_cold.ends_us - self.workload.asked_us

    def latencies_us(self, cold: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how long after it is asked for each inference ends where some blocks are cold."""
        return np.where(cold[self.block_of_each], self.cold_latencies_us, self.warm_latencies_us)

    @functools.cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self.workload.periods.first[self.first]

    def _busy(self, begins_us: NDArray[np.int64], ends_us: NDArray[np.int64]) -> NDArray[np.int64]:
        begins, ends = union(begins_us, ends_us)
        starts = np.searchsorted(begins, self.workload.periods.begins_us[self.first])
        return np.add.reduceat(ends - begins, starts)


def fits(workload: Workload) -> bool:
    """Return whether the gaps between blocks make up for a raise that is late."""
    return workload.late_us <= SHORTEST_SUSTAIN_US

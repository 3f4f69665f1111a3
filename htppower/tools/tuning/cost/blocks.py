"""Blocks: busy times without a gap that is long enough for a timer, and the latencies of their inferences."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.cost.outcome import union
from htppower.tools.tuning.cost.stepwise import run_from_cold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.cost.outcome import Run
    from htppower.tools.tuning.cost.workload import Workload


@attrs.frozen(eq=False, slots=False)
class Blocks:
    """The blocks of a workload. A block is cold if its first inference waits for a raise.

    Attributes:
        workload: the inferences.
        first: the number of the first busy time of each block.
        gaps_us: the gaps between the blocks if no block is cold.
        late_us: how much later each block ends if it is cold.
        cold_busy_us: how much longer the inferences of each block run together if it is cold; negative if more of them
            overlap.
        cold_waits_us: the delay of each inference if all blocks are cold.
    """

    workload: Workload
    first: NDArray[np.int64]
    gaps_us: NDArray[np.int64]
    late_us: NDArray[np.int64]
    cold_busy_us: NDArray[np.int64]
    cold_waits_us: NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload) -> Blocks:
        """Return the blocks of a workload with at least one inference.

        Raises:
            ValueError: a raise may take longer than the shortest gap between blocks.
        """
        if not fits(workload):
            raise ValueError(f"a raise takes {workload.late_us} us; at most {SHORTEST_SUSTAIN_US} us are allowed")
        periods = workload.periods
        long = periods.gaps_us >= SHORTEST_SUSTAIN_US
        first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(long) + 1))
        cold = run_from_cold(workload, first, 0)
        last = np.concatenate((first[1:], np.array([periods.count]))) - 1
        late = cold.lowered_us - periods.ends_us[last]
        return cls(workload, first, periods.gaps_us[long], late, _cold_busy_us(workload, first, cold), cold.waits_us)

    @functools.cached_property
    def block_of_each(self) -> NDArray[np.int64]:
        """The number of each inference's block."""
        return np.repeat(np.arange(self.first.size), np.diff(self._starts, append=self.workload.count))

    @functools.cached_property
    def warm_busy_us(self) -> int:
        """How long inferences run if no block is cold."""
        if self.workload.one_at_a_time:
            return int(self.workload.takes_us.sum())
        begins, ends = union(self.workload.begins_us, self.workload.ends_us)
        return int((ends - begins).sum())

    @functools.cached_property
    def waits_us(self) -> NDArray[np.int64]:
        """The sum of the delays of the inferences of each block if it is cold."""
        return np.add.reduceat(self.cold_waits_us, self._starts)

    def later_than(self, latency_us: int) -> tuple[int, NDArray[np.int64]]:
        """Return how many inferences take longer than a latency if no block is cold, and how many more each adds."""
        warm = self.warm_latencies_us > latency_us
        more = (self.cold_latencies_us > latency_us).astype(np.int64) - warm
        return int(warm.sum()), np.add.reduceat(more, self._starts)

    @functools.cached_property
    def warm_latencies_us(self) -> NDArray[np.int64]:
        """The latency of each inference from its request if no block is cold."""
        return self.workload.ends_us - self.workload.asked_us

    @functools.cached_property
    def cold_latencies_us(self) -> NDArray[np.int64]:
        """The latency of each inference from its request if every block is cold."""
        return self.warm_latencies_us + self.cold_waits_us

    def latencies_us(self, cold: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the latency of each inference from its request if some blocks are cold."""
        return np.where(cold[self.block_of_each], self.cold_latencies_us, self.warm_latencies_us)

    @functools.cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self.workload.periods.first[self.first]


def _cold_busy_us(workload: Workload, first: NDArray[np.int64], cold: Run) -> NDArray[np.int64]:
    if workload.one_at_a_time:
        return np.zeros(first.size, np.int64)
    block_begins = workload.periods.begins_us[first]

    def busy_us(begins_us: NDArray[np.int64], ends_us: NDArray[np.int64]) -> NDArray[np.int64]:
        begins, ends = union(begins_us, ends_us)
        return np.add.reduceat(ends - begins, np.searchsorted(begins, block_begins))

    return busy_us(cold.begins_us, cold.ends_us) - busy_us(workload.begins_us, workload.ends_us)


def fits(workload: Workload) -> bool:
    """Return whether a raise takes no longer than the shortest gap between blocks."""
    return workload.late_us <= SHORTEST_SUSTAIN_US

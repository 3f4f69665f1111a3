"""The cost of every time-out over a set of gaps: the gaps are sorted once, and each time-out is one search.

A gap that is shorter than the time-out costs its length. A gap that is as long or longer costs the time-out plus the
break-even time. Equal counts as longer: if the alarm and an inference fall in the same microsecond, the alarm is first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def cost_us(
    sum_within_us: NDArray[np.int64],
    beyond: NDArray[np.int64],
    time_outs_us: NDArray[np.int64],
    break_even_us: int,
) -> NDArray[np.int64]:
    """Return the cost of each time-out, in us of votes that are up while nothing runs.

    Args:
        sum_within_us: the sum of the gaps that are shorter than the time-out.
        beyond: how many gaps are not shorter.
        time_outs_us: the time-outs.
        break_even_us: the cost of lowering and raising again.
    """
    return sum_within_us + beyond * (time_outs_us + break_even_us)


@attrs.frozen(eq=False)
class GapCurve:
    """Gaps, sorted, and the sums of the shortest of them.

    Attributes:
        gaps_us: the gaps, from the shortest to the longest.
        sums_us: at each place, the sum of the gaps before it; the last is the sum of all gaps.
    """

    gaps_us: NDArray[np.int64]
    sums_us: NDArray[np.int64]

    @classmethod
    def of(cls, gaps_us: ArrayLike) -> GapCurve:
        """Return the curve of gaps in any order; each is at least 0."""
        gaps = np.sort(np.asarray(gaps_us, dtype=np.int64))
        sums = np.zeros(gaps.size + 1, dtype=np.int64)
        np.cumsum(gaps, out=sums[1:])
        return cls(gaps, sums)

    def beyond(self, time_outs_us: ArrayLike) -> NDArray[np.int64]:
        """Return how many gaps are at least as long as each time-out: a cold start follows each of them."""
        return self.gaps_us.size - self._within(time_outs_us)

    def cost_us(self, time_outs_us: ArrayLike, break_even_us: int) -> NDArray[np.int64]:
        """Return the cost of each time-out. With a break-even time of 0, it is how long votes are up while idle."""
        time_outs = np.asarray(time_outs_us, dtype=np.int64)
        within = self._within(time_outs)
        return cost_us(self.sums_us[within], self.gaps_us.size - within, time_outs, break_even_us)

    def clairvoyant_us(self, break_even_us: int) -> int:
        """Return the lowest possible cost, of a choice that knows each gap in advance."""
        within = int(np.searchsorted(self.gaps_us, break_even_us))
        return int(self.sums_us[within]) + (self.gaps_us.size - within) * break_even_us

    def time_outs_us(self, most_us: int, least_us: int = SHORTEST_SUSTAIN_US) -> NDArray[np.int64]:
        """Return 0 and a time-out just above each gap; with any break-even time, one of them is the cheapest.

        A time-out between two of them costs more than the shorter one, and keeps no more inferences warm.
        """
        return distinct_time_outs_us(self.gaps_us, most_us, least_us)

    def best(self, break_even_us: int, most_us: int, least_us: int = SHORTEST_SUSTAIN_US) -> tuple[int, int]:
        """Return the cheapest of all time-outs, and its cost; the shortest of those that cost the same."""
        time_outs = self.time_outs_us(most_us, least_us)
        costs = self.cost_us(time_outs, break_even_us)
        place = int(np.argmin(costs))
        return int(time_outs[place]), int(costs[place])

    def shortest_us(self, most_beyond: int) -> int:
        """Return the shortest time-out with at most ``most_beyond`` gaps beyond it; it may be too short for a timer."""
        size = self.gaps_us.size
        return 0 if most_beyond >= size else int(self.gaps_us[size - 1 - most_beyond]) + 1

    def _within(self, time_outs_us: ArrayLike) -> NDArray[np.int64]:
        return np.searchsorted(self.gaps_us, np.asarray(time_outs_us, dtype=np.int64), side="left")


def distinct_time_outs_us(gaps_us: NDArray[np.int64], most_us: int, least_us: int) -> NDArray[np.int64]:
    """Return 0, the shortest time-out that a timer keeps, and a time-out just above each gap, sorted."""
    # A stable sort is fast if the gaps are sorted already.
    beyond = np.sort(gaps_us[(gaps_us >= least_us) & (gaps_us < most_us)], kind="stable") + 1
    first = np.ones(beyond.size, np.bool_)
    np.not_equal(beyond[1:], beyond[:-1], out=first[1:])
    ends = np.array([0, least_us] if 0 < least_us <= most_us else [0], np.int64)
    return np.concatenate((ends, beyond[first]))

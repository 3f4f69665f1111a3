"""The cost of every time-out over a set of gaps: sorted once, and then one search for each time-out.

A gap within its time-out costs itself; one that is as long or longer costs the time-out and the break-even time, since
the alarm that lowers the votes rings first where an inference begins in the same microsecond.
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
        sum_within_us: the sum of the gaps that are shorter than it.
        beyond: how many are not.
        time_outs_us: the time-outs.
        break_even_us: what lowering and raising again costs.
    """
    return sum_within_us + beyond * (time_outs_us + break_even_us)


@attrs.frozen(eq=False)
class GapCurve:
    """Gaps, sorted, and the sums of the shortest of them.

    Attributes:
        gaps_us: the gaps, from the shortest to the longest.
        sums_us: at each place, the sum of the gaps before it; one more than there are gaps.
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
        """Return how many gaps each time-out does not outlast: the raises after them are cold starts."""
        return self.gaps_us.size - self._within(time_outs_us)

    def cost_us(self, time_outs_us: ArrayLike, break_even_us: int) -> NDArray[np.int64]:
        """Return the cost of each time-out; with a break-even time of 0, how long votes are up with nothing running."""
        time_outs = np.asarray(time_outs_us, dtype=np.int64)
        within = self._within(time_outs)
        return cost_us(self.sums_us[within], self.gaps_us.size - within, time_outs, break_even_us)

    def clairvoyant_us(self, break_even_us: int) -> int:
        """Return what it costs at least, for one who knows each gap beforehand."""
        within = int(np.searchsorted(self.gaps_us, break_even_us))
        return int(self.sums_us[within]) + (self.gaps_us.size - within) * break_even_us

    def time_outs_us(self, most_us: int, least_us: int = SHORTEST_SUSTAIN_US) -> NDArray[np.int64]:
        """Return the time-outs of which one is cheapest, whatever the break-even time: 0, and just beyond each gap.

        Between two of them each us costs more and keeps no inference warm.
        """
        return distinct_time_outs_us(self.gaps_us, most_us, least_us)

    def best(self, break_even_us: int, most_us: int, least_us: int = SHORTEST_SUSTAIN_US) -> tuple[int, int]:
        """Return the cheapest of all time-outs, the shortest of those that cost the same, and what it costs."""
        time_outs = self.time_outs_us(most_us, least_us)
        costs = self.cost_us(time_outs, break_even_us)
        place = int(np.argmin(costs))
        return int(time_outs[place]), int(costs[place])

    def shortest_us(self, most_beyond: int) -> int:
        """Return the shortest time-out that leaves at most so many gaps beyond it; no regard is paid to timers."""
        size = self.gaps_us.size
        return 0 if most_beyond >= size else int(self.gaps_us[size - 1 - most_beyond]) + 1

    def _within(self, time_outs_us: ArrayLike) -> NDArray[np.int64]:
        return np.searchsorted(self.gaps_us, np.asarray(time_outs_us, dtype=np.int64), side="left")


def distinct_time_outs_us(gaps_us: NDArray[np.int64], most_us: int, least_us: int) -> NDArray[np.int64]:
    """Return 0, the least that a timer keeps, and each time-out that just outlasts one of the gaps, sorted."""
    # A stable sort takes what is sorted already as it is.
    beyond = np.sort(gaps_us[(gaps_us >= least_us) & (gaps_us < most_us)], kind="stable") + 1
    first = np.ones(beyond.size, np.bool_)
    np.not_equal(beyond[1:], beyond[:-1], out=first[1:])
    ends = np.array([0, least_us] if 0 < least_us <= most_us else [0], np.int64)
    return np.concatenate((ends, beyond[first]))

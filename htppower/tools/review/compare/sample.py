"""The times of some runs, and the medians that a bootstrap draws from them.

A bootstrap draws as many runs as there are, with repetition, and takes their median, many times. Only the rank of that
median matters, and the rank of the k-th of n uniform numbers has a beta distribution. So one random number gives one
median, and the cost does not grow with the number of runs (Efron, "Bootstrap Methods: Another Look at the Jackknife",
1979, gives the distribution).
"""

from __future__ import annotations

import itertools
import math
import operator
import statistics
from typing import TYPE_CHECKING

import attrs

from htppower.tools.review.advice.numbers import present

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Spread

# The interval that the medians of fewer runs give is far too short.
FEWEST = 6
# An interval from the 51st smallest to the 51st largest of 2,000 differences is steady to about a tenth of its length.
DRAWN = 2_000
# Neighbouring runs resemble each other up to this distance at most; longer trends are found as drift.
_FURTHEST = 50
# Fewer runs do not show whether neighbours resemble each other.
_FEWEST_IN_ORDER = 20


@attrs.frozen
class Sample:
    """The runs, or statistics of them.

    Attributes:
        points: shares from 0 to 1, rising, each with the value that this share of the runs does not exceed. With
            ``single`` they are the runs themselves, each with its rank.
        single: whether the points are the single runs, not statistics.
        count: how many runs; 0 if that is not known.
        independent: how many runs that do not resemble their neighbours would tell as much.
    """

    points: tuple[tuple[float, float], ...]
    single: bool
    count: int
    independent: float

    @classmethod
    def of_runs(cls, runs: Sequence[float]) -> Sample | None:
        """Return a sample of single runs in their order, without missing ones; None if there are none."""
        there = present(runs)
        if not there:
            return None
        count = len(there)
        points = tuple(((place + 1) / count, value) for place, value in enumerate(sorted(there)))
        return cls(points, True, count, _independent(there))

    @classmethod
    def of_statistics(cls, middle: float, spread: Spread | None) -> Sample:
        """Return a sample of a median or an average, with the statistics of its runs if they are known."""
        quantiles = () if spread is None else spread.quantiles
        count = 0 if spread is None else spread.count
        return cls(quantiles or ((0.5, middle),), False, count, count)

    @property
    def median(self) -> float:
        """The median; of averages, the average."""
        return statistics.median(value for _, value in self.points) if self.single else self.at(0.5)

    @property
    def has_interval(self) -> bool:
        """Whether it holds enough for an interval."""
        return self.count >= FEWEST and (self.single or len(self.points) > 2)  # noqa: PLR2004 - a median and both ends

    def at(self, share: float) -> float:
        """Return the value that a share of the runs does not exceed. Between statistics it rises evenly."""
        if self.single:
            return self.points[min(self.count - 1, int(share * self.count))][1]
        for (low, below), (high, above) in itertools.pairwise(self.points):
            if share <= high:
                return below + (above - below) * max(0.0, share - low) / (high - low)
        return self.points[-1][1]

    @property
    def runs(self) -> int:
        """How many runs a bootstrap draws."""
        return max(1, round(self.independent))

    def medians(self, ranks: Sequence[tuple[float, float]]) -> list[float]:
        """Return the medians at these ranks of ``drawn_ranks``; the median itself if it holds too little."""
        if not self.has_interval:
            return [self.median] * len(ranks)
        return [(self.at(lower) + self.at(upper)) / 2 for lower, upper in ranks]


def drawn_ranks(draw: random.Random, runs: int, drawn: int = DRAWN) -> list[tuple[float, float]]:
    """Return where the two middle ones of so many drawn runs lie, from 0 to 1, as often as asked."""
    half = (runs + 1) // 2
    if runs % 2:
        middles = [draw.betavariate(half, half) for _ in range(drawn)]
        return list(zip(middles, middles, strict=True))
    lower = [draw.betavariate(half, half + 1) for _ in range(drawn)]
    # The upper one is the smallest of those above the lower one.
    return [(low, low + (1 - low) * draw.betavariate(1, half)) for low in lower]


def _independent(runs: Sequence[float]) -> float:
    """Return how many independent runs tell as much as these: neighbours that resemble each other tell less.

    The ranks are compared with the ranks of the next runs, the ones after that and so on, as long as they resemble
    each other more than by chance.
    """
    count = len(runs)
    ranks = _ranks(runs)
    total = math.fsum(map(operator.mul, ranks, ranks))
    if count < _FEWEST_IN_ORDER or not total:
        return count
    chance = 2 / math.sqrt(count)
    length = 1.0
    for distance in range(1, min(_FURTHEST, count // 4) + 1):
        likeness = math.fsum(map(operator.mul, ranks, ranks[distance:])) / total
        if likeness < chance:
            break
        length += 2 * likeness
    return count / length


def _ranks(runs: Sequence[float]) -> list[float]:
    """Return the rank of each run, around 0; equal runs have the mean of their ranks."""
    order = sorted(range(len(runs)), key=runs.__getitem__)
    found = [0.0] * len(runs)
    middle, place = (len(runs) - 1) / 2, 0
    for _, same in itertools.groupby(order, key=runs.__getitem__):
        group = list(same)
        rank = place + (len(group) - 1) / 2 - middle
        for each in group:
            found[each] = rank
        place += len(group)
    return found

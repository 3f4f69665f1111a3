"""Plain statistics of times: medians, and whether they form two humps."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# So few times of one hump look like two humps too often.
FEWEST_FOR_HUMPS = 10
# A hump has at least this share of the times, and at least three; fewer are outliers.
_HUMP_SHARE = 0.15
_HUMP_LEAST = 3
# The largest share of the variance, on a logarithmic scale, that may remain within the halves at their best split, by
# the number of times. For one normal hump 1 - 2 / pi = 0.36 remains, for an even spread 0.25; small samples scatter
# around that. Tried with 1500 series of each length: even spreads, normal and long tails pass for two humps in at most
# 1.5 %.
_WITHIN_MOST = ((15, 0.06), (29, 0.1), (10**9, 0.13))
# The largest share of the times in the middle third between the humps; an even spread has 0.17 there.
_VALLEY_MOST = 0.06
# A smaller step between the humps does not matter to a user.
_RATIO_LEAST = 1.15
# A longer series is thinned evenly after sorting, which keeps the humps.
_MOST = 2_000


@attrs.frozen
class Humps:
    """Two humps: the median of each in us, the share of times in the slow one, and the split between them."""

    fast: float
    slow: float
    slow_share: float
    split: float


def present(numbers: Iterable[float]) -> list[float]:
    """Return the numbers without those that are missing."""
    return [number for number in numbers if number == number]  # noqa: PLR0124 - NaN is not equal to itself


def median(numbers: Iterable[float]) -> float:
    """Return the median of the numbers that are not missing; NaN if there are none."""
    there = present(numbers)
    return statistics.median(there) if there else math.nan


def mean(numbers: Iterable[float]) -> float:
    """Return the mean of the numbers that are not missing; NaN if there are none."""
    there = present(numbers)
    return math.fsum(there) / len(there) if there else math.nan


def two_humps(times: Iterable[float]) -> Humps | None:
    """Return the two humps of some times; None if there are not clearly two, or too few times.

    The times are split into two halves so that the variance of their logarithms within the halves is smallest (Otsu's
    method). They are two humps only if little variance remains, the halves are apart, and neither is a few outliers.
    """
    ordered = sorted(time for time in present(times) if time > 0)
    if len(ordered) < FEWEST_FOR_HUMPS:
        return None
    if len(ordered) > _MOST:
        ordered = [ordered[place * len(ordered) // _MOST] for place in range(_MOST)]
    logs = [math.log(time) for time in ordered]
    place, within = _best_split(logs)
    if place == 0 or within > next(share for most, share in _WITHIN_MOST if len(logs) <= most):
        return None
    low, high = ordered[:place], ordered[place:]
    fast, slow = statistics.median(low), statistics.median(high)
    step = (slow / fast) ** (1 / 3)
    valley = sum(fast * step < time < slow / step for time in ordered)
    if slow < _RATIO_LEAST * fast or valley > _VALLEY_MOST * len(ordered):
        return None
    return Humps(fast, slow, len(high) / len(ordered), math.sqrt(low[-1] * high[0]))


def _best_split(logs: Sequence[float]) -> tuple[int, float]:
    """Return where to split, and the share of the variance that remains. The place is 0 if all are equal."""
    count = len(logs)
    middle = math.fsum(logs) / count
    total = math.fsum((each - middle) ** 2 for each in logs)
    if total <= 0:
        return 0, 1.0
    least = max(_HUMP_LEAST, math.ceil(_HUMP_SHARE * count))
    best, most, left = 0, -1.0, 0.0
    for place, each in enumerate(logs[: count - least], start=1):
        left += each - middle
        between = left * left * (1 / place + 1 / (count - place))
        if place >= least and between > most:
            best, most = place, between
    return best, 1 - most / total

"""Numbers for the checks: typical values, differences of events, shares of the inference, and humps of times."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from typing import TYPE_CHECKING

import attrs

from htppower.tools.review.advice.measurement import LEVELS, WHOLES, Event
from htppower.tools.review.advice.rules import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.review.advice.measurement import Measurement

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
# A median of this many inferences is sure; a median of so few is not.
_SURE = 10
_FEW = 3
# The names of the parts between two neighbouring levels.
_BETWEEN = {
    (Event.QNN, Event.RPC): "host, outside the RPC",
    (Event.RPC, Event.QNN_ACCELERATOR): "RPC and wake-up",
    (Event.QNN_ACCELERATOR, Event.ACCELERATOR): "HTP, outside the graph",
    (Event.ACCELERATOR, Event.COMPUTE): "HTP, waiting",
}


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


@attrs.frozen
class Part:
    """A part of the inference: its name, its time in us, its share."""

    name: str
    time_us: float
    share: float


class Numbers:
    """A measurement, and numbers computed from it. A number that can't be computed is None."""

    def __init__(self, measurement: Measurement) -> None:
        self.measurement = measurement
        self.columns = measurement.columns
        self._typical: dict[Event, float] = {}

    def has(self, *events: Event) -> bool:
        """Return whether it has numbers of each of these events."""
        return all(any(number == number for number in self.columns.get(event, ())) for event in events)  # noqa: PLR0124 - not NaN

    def typical(self, event: Event) -> float | None:
        """Return the median; for averages the average, or the smallest number if a slow inference has moved it."""
        if not self.has(event):
            return None
        if self.moved_by_a_cold_start and event in self.measurement.least:
            return self.measurement.least[event]
        if event not in self._typical:
            self._typical[event] = median(self.columns[event])
        return self._typical[event]

    def average(self, event: Event) -> float | None:
        """Return the mean over the inferences."""
        return mean(self.columns[event]) if self.has(event) else None

    def less(self, event: Event, inner: Event) -> Sequence[float]:
        """Return the difference of two events for each inference that has both; never below 0."""
        if not self.has(event, inner):
            return ()
        if self.moved_by_a_cold_start and {event, inner} <= self.measurement.least.keys():
            return (max(0.0, self.measurement.least[event] - self.measurement.least[inner]),)
        pairs = zip(self.columns[event], self.columns[inner], strict=False)
        return [max(0.0, one - other) for one, other in pairs if not math.isnan(one - other)]

    def between(self, event: Event, inner: Event) -> float | None:
        """Return the typical difference of two events."""
        found = self.less(event, inner)
        return median(found) if found else None

    @functools.cached_property
    def whole(self) -> Event | None:
        """The event that stands for the whole inference."""
        return next((event for event in WHOLES if self.has(event)), None)

    @functools.cached_property
    def whole_us(self) -> float:
        """The typical time of the whole inference; 0 if there is none."""
        return 0.0 if self.whole is None else self.typical(self.whole) or 0.0

    @functools.cached_property
    def total_us(self) -> float:
        """The time of all inferences together."""
        return 0.0 if self.whole is None else math.fsum(present(self.columns[self.whole]))

    @property
    def compute(self) -> Event | None:
        """The event with the time of the computation.

        If it was not measured, the event with the time on the HTP, which includes waits there.
        """
        return next((event for event in (Event.COMPUTE, Event.ACCELERATOR) if self.has(event)), None)

    @functools.cached_property
    def moved_by_a_cold_start(self) -> bool:
        """Whether the numbers are averages that a slow inference has moved away from the typical number."""
        measured = self.measurement
        if not measured.averaged:
            return False
        least, most = (limits.get(Event.POWER_ON) for limits in (measured.least, measured.most))
        return least is not None and most is not None and most > 2 * least + POWERED_UP_US

    def share(self, time_us: float) -> float:
        """Return a time as a share of the whole, from 0 to 1."""
        return min(1.0, max(0.0, time_us / self.whole_us)) if self.whole_us else 0.0

    def part_of_whole(self, event: Event) -> float:
        """Return the typical share of an event in its own inference, from 0 to 1."""
        if self.whole is None or not self.has(event):
            return 0.0
        pairs = zip(self.columns[event], self.columns[self.whole], strict=False)
        shares = present(part / whole for part, whole in pairs if whole > 0)
        if self.moved_by_a_cold_start or not shares:
            return self.share(self.typical(event) or 0.0)
        return min(1.0, median(shares))

    @property
    def gaps_us(self) -> Sequence[float]:
        """How long the HTP was idle before each inference except the first; empty if the file does not have that."""
        measured = self.measurement
        if len(measured.begins_us) < 2:  # noqa: PLR2004 - a gap has two sides
            return ()
        if measured.ends_us:
            later = zip(measured.begins_us[1:], measured.ends_us, strict=False)
            return [max(0.0, begin - end) for begin, end in later]
        return [max(0.0, then - now - self.whole_us) for now, then in itertools.pairwise(measured.begins_us)]

    def confidence(self, best: Confidence = Confidence.HIGH) -> Confidence:
        """Return how sure advice on so many inferences can be, and never more than ``best``."""
        count = self.measurement.count
        if self.measurement.averaged or _FEW <= count < _SURE:
            found = Confidence.MEDIUM
        else:
            found = Confidence.HIGH if count >= _SURE else Confidence.LOW
        return Confidence.least(found, best)

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of the inference, from the host to the work itself; they add up to the whole."""
        levels = [event for event in LEVELS if self.has(event)] or [event for event in (self.whole,) if event]
        # Averages are shown as the file has them, even if the checks use the smallest number.
        times = [(self.average(event) if self.measurement.averaged else self.typical(event)) or 0.0 for event in levels]
        # Each level lies within the previous one. If medians contradict that, the cause is noise.
        lowest = list(itertools.accumulate(times, min))
        whole = lowest[0] if lowest else 0.0
        names = [
            _BETWEEN.get((outer, inner), f"{outer.printed} less {inner.printed}")
            for outer, inner in itertools.pairwise(levels)
        ]
        names += ["HTP, computing" if level is Event.COMPUTE else level.printed for level in levels[-1:]]
        differences = [above - below for above, below in itertools.pairwise((*lowest, 0.0))]
        parts = zip(names, differences, strict=True)
        return tuple(Part(name, time_us, time_us / whole if whole else 0.0) for name, time_us in parts)


# Power-up takes 1.1 to 29 ms cold and 9 to 36 us warm (third parties' figures, five SoCs). This value separates them.
POWERED_UP_US = 500.0
# In a short inference a shorter time counts, too: five times a warm power-up, and a tenth of the whole.
POWERED_UP_SHORT_US = 200.0
POWERED_UP_SHARE = 0.1


def powered_up(time_us: float, whole_us: float) -> bool:
    """Return whether a time of HVX and HMX power on is a power-up. If the units are on already, it takes less."""
    return time_us >= POWERED_UP_US or time_us >= max(POWERED_UP_SHORT_US, POWERED_UP_SHARE * whole_us)

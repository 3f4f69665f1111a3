"""Counts and sums for many time-outs, and the time-outs that a gap is beyond only behind a block that is not cold.

The sums are made once, and each time-out is one look-up or search.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


# In a row of gaps with similar lengths, the number of intervals grows from gap to gap. If a row is longer, or if there
# are more intervals for each gap, the intervals are not used.
_LONGEST_ROW = 64
_MOST = 2


class Keys:
    """The keys of some items: sums over the items below a time-out are made once, and looked up for each time-out.

    Args:
        keys: the key of each item, 0 or more.
        like: keys that have the same order, which is not calculated again.
    """

    def __init__(self, keys: NDArray[np.int64], like: Keys | None = None) -> None:
        self._keys = keys
        self._like = like

    @functools.cached_property
    def order(self) -> NDArray[np.int64]:
        """The places of the items, from the least key to the greatest."""
        found: NDArray[np.int64] = np.argsort(self._keys) if self._like is None else self._like.order
        return found

    @functools.cached_property
    def in_order(self) -> NDArray[np.int64]:
        """The keys, sorted."""
        return self._keys[self.order]

    def below(self, values: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the sums of the values below each place of ``at``, or without values the counts of items."""
        if values is None:
            return np.arange(self._keys.size + 1)
        sums = np.zeros(values.size + 1, np.int64)
        np.cumsum(values[self.order], out=sums[1:])
        return sums

    def at(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of each time-out."""
        found: NDArray[np.int64] = np.searchsorted(self.in_order, time_outs_us)
        return found


class Beyond:
    """Counts and sums of the items whose key is at least a time-out.

    Args:
        keys: the key of each item.
        values: the values of each item, by name.
    """

    def __init__(self, keys: Keys, values: dict[str, NDArray[np.int64]]) -> None:
        self._keys = keys
        self._counts = keys.below()
        self._sums = {name: keys.below(each) for name, each in values.items()}

    def count(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many items have a key of at least each time-out."""
        found: NDArray[np.int64] = self._counts[-1] - self._counts[self._keys.at(time_outs_us)]
        return found

    def sum(self, name: str, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of a value over the items whose key is at least each time-out."""
        sums = self._sums[name]
        found: NDArray[np.int64] = sums[-1] - sums[self._keys.at(time_outs_us)]
        return found


class Between:
    """Counts and sums of the intervals that hold a time-out.

    Args:
        above_us, upto_us: an interval holds the time-outs above the first, up to and including the second.
        values: the values of each interval, by name.
    """

    def __init__(
        self, above_us: NDArray[np.int64], upto_us: NDArray[np.int64], values: dict[str, NDArray[np.int64]]
    ) -> None:
        self._upto = Beyond(Keys(upto_us), values)
        self._above = Beyond(Keys(above_us), values)

    def count(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many intervals hold each time-out."""
        return self._upto.count(time_outs_us) - self._above.count(time_outs_us)

    def sum(self, name: str, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each time-out, the sum of a value over the intervals around it."""
        return self._upto.sum(name, time_outs_us) - self._above.sum(name, time_outs_us)


@attrs.frozen(eq=False)
class Alternation:
    """Intervals of time-outs. A gap is beyond the time-outs in its intervals, but within them behind a cold block.

    Attributes:
        places: the gap of each interval.
        above_us, upto_us: the interval holds the time-outs above the first, up to and including the second.
    """

    places: NDArray[np.int64]
    above_us: NDArray[np.int64]
    upto_us: NDArray[np.int64]

    @classmethod
    def of(cls, gaps_us: NDArray[np.int64], shortened_us: NDArray[np.int64]) -> Alternation | None:
        """Return the intervals of gaps, from their lengths behind warm and cold blocks; None if there are too many.

        Behind a cold block, a gap is beyond the time-outs up to its shortened length; otherwise, up to its length. The
        first gap is always behind a cold block, so it has no interval. Another gap has no interval for the time-outs
        that the gap before it is beyond, since the block between them is cold then.
        """
        low = np.maximum(shortened_us, np.concatenate((gaps_us[:1], shortened_us[:-1])))
        may_be = low < gaps_us
        # A gap depends on the gap before it if their intervals may overlap.
        depends = np.zeros(gaps_us.size, np.bool_)
        depends[1:] = may_be[1:] & may_be[:-1] & (low[1:] < gaps_us[:-1]) & (low[:-1] < gaps_us[1:])
        places = np.flatnonzero(may_be & ~depends)
        above, upto = low[places], gaps_us[places]
        sizes = np.ones(places.size, np.int64)
        found: list[tuple[NDArray[np.int64], ...]] = []
        kept = 0
        for _ in range(_LONGEST_ROW):
            found.append((np.repeat(places, sizes), above, upto))
            kept += above.size
            if kept > _MOST * max(gaps_us.size, 1):
                return None
            behind = np.minimum(places + 1, gaps_us.size - 1)
            goes_on = (places + 1 < gaps_us.size) & depends[behind]
            if not goes_on.any():
                return cls(*(np.concatenate(each) for each in zip(*found, strict=True)))
            inner = np.repeat(goes_on, sizes)
            places, sizes = behind[goes_on], sizes[goes_on]
            above, upto, sizes = _rest(low[places], gaps_us[places], above[inner], upto[inner], sizes)
        return None


def _rest(
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    above: NDArray[np.int64],
    upto: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Subtract sorted intervals from others: ``sizes`` says how many belong to each. Return the rest, and new sizes."""
    owners = np.repeat(np.arange(sizes.size), sizes)
    ends = np.cumsum(sizes)
    # The rest lies before the first subtracted interval, between two of them, and after the last.
    begins = np.insert(np.clip(upto, low[owners], high[owners]), ends - sizes, low)
    stops = np.insert(np.clip(above, low[owners], high[owners]), ends, high)
    left = begins < stops
    owners = np.repeat(np.arange(sizes.size), sizes + 1)
    return begins[left], stops[left], np.bincount(owners[left], minlength=sizes.size)


def distinct_time_outs_us(gaps_us: NDArray[np.int64], most_us: int, least_us: int) -> NDArray[np.int64]:
    """Return 0, the shortest time-out that a timer keeps, and a time-out just above each gap, sorted."""
    # A stable sort is fast if the gaps are sorted already.
    beyond = np.sort(gaps_us[(gaps_us >= least_us) & (gaps_us < most_us)], kind="stable") + 1
    first = np.ones(beyond.size, np.bool_)
    np.not_equal(beyond[1:], beyond[:-1], out=first[1:])
    ends = np.array([0, least_us] if 0 < least_us <= most_us else [0], np.int64)
    return np.concatenate((ends, beyond[first]))

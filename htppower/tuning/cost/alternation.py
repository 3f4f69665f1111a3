"""The time-outs that a gap does not outlast only because the block before it is not cold, of all gaps at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# In a row of gaps of one length there are more and more intervals: of longer rows each time-out is gone through.
_LONGEST_ROW = 64
# So many intervals, times the gaps, are kept at most.
_MOST = 2


@attrs.frozen(eq=False)
class Alternation:
    """Intervals of time-outs in which gaps are beyond theirs that are within it behind a cold block.

    Attributes:
        places: the gap of each interval.
        above_us, upto_us: it is beyond the time-outs that are more than the one, and no more than the other.
    """

    places: NDArray[np.int64]
    above_us: NDArray[np.int64]
    upto_us: NDArray[np.int64]

    @classmethod
    def of(cls, gaps_us: NDArray[np.int64], shortened_us: NDArray[np.int64]) -> Alternation | None:
        """Return the intervals of gaps, of which each has a length behind a cold block, too; None where they are many.

        Behind a cold block a gap is beyond the time-outs up to its shortened length, otherwise up to its length. So it
        has no interval if it is the first, since that is behind a cold block always; and no other has one where the gap
        before it is beyond.
        """
        low = np.maximum(shortened_us, np.concatenate((gaps_us[:1], shortened_us[:-1])))
        may_be = low < gaps_us
        # A gap depends on the one before where their intervals may overlap.
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
    """Return what is left of some intervals without some others, which are sorted: so many of each, and how many."""
    owners = np.repeat(np.arange(sizes.size), sizes)
    ends = np.cumsum(sizes)
    # What is left lies before the first, between two, and after the last.
    begins = np.insert(np.clip(upto, low[owners], high[owners]), ends - sizes, low)
    stops = np.insert(np.clip(above, low[owners], high[owners]), ends, high)
    left = begins < stops
    owners = np.repeat(np.arange(sizes.size), sizes + 1)
    return begins[left], stops[left], np.bincount(owners[left], minlength=sizes.size)

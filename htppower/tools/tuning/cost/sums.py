"""Counts and sums for many time-outs: the keys are sorted once, and each time-out is one search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Beyond:
    """Counts and sums of the items whose key is at least a time-out.

    Args:
        keys: the key of each item.
        values: the values of each item, by name.
        order: the places of the keys from the least to the greatest; None if not known.
    """

    def __init__(
        self, keys: NDArray[np.int64], values: dict[str, NDArray[np.int64]], order: NDArray[np.int64] | None = None
    ) -> None:
        order = np.argsort(keys) if order is None else order
        self._keys = keys[order]
        self._sums: dict[str, NDArray[np.int64]] = {}
        for name, each in values.items():
            sums = np.zeros(keys.size + 1, np.int64)
            np.cumsum(each[order], out=sums[1:])
            self._sums[name] = sums

    def count(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many items have a key of at least each time-out."""
        found: NDArray[np.int64] = self._keys.size - np.searchsorted(self._keys, time_outs_us)
        return found

    def sum(self, name: str, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of a value over the items whose key is at least each time-out."""
        sums = self._sums[name]
        found: NDArray[np.int64] = sums[-1] - sums[np.searchsorted(self._keys, time_outs_us)]
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
        self._upto = Beyond(upto_us, values)
        self._above = Beyond(above_us, values)

    def count(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many intervals hold each time-out."""
        return self._upto.count(time_outs_us) - self._above.count(time_outs_us)

    def sum(self, name: str, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each time-out, the sum of a value over the intervals around it."""
        return self._upto.sum(name, time_outs_us) - self._above.sum(name, time_outs_us)

"""Gaps as counts and sums in bins: a few kilobytes for any number of gaps; histograms of several files are added."""

from __future__ import annotations

import itertools
import operator
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from htppower.tools.tuning.fleet.bins import BINS, EDGES, EDGES_US

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_NOTHING = (0,) * BINS
# Sums have 64 bits. The gaps of a session do not overlap, so that only nonsensical times exceed this.
_MOST_US = 2**62
PPM = 1_000_000


@attrs.frozen
class GapHistogram:
    """The number and the total length of the gaps in each bin.

    The cost of a time-out is exact if the time-out is an edge of a bin. A gap that is as long as the time-out is beyond
    it, since the votes are lowered before the inference begins.

    Attributes:
        counts: the number of gaps in each bin of ``EDGES_US``.
        sums_us: the total length of the gaps in each bin, in us.
    """

    counts: tuple[int, ...] = _NOTHING
    sums_us: tuple[int, ...] = _NOTHING

    @classmethod
    def of(cls, gaps_us: NDArray[np.int64]) -> GapHistogram:
        """Count gaps.

        Raises:
            ValueError: a gap is below 0, or the sum of all gaps is 2^62 us or more.
        """
        if not gaps_us.size:
            return cls()
        if int(gaps_us.min()) < 0 or float(gaps_us.sum(dtype=np.float64)) >= _MOST_US:
            raise ValueError("the gaps between its inferences are below 0, or longer than 146,000 years")
        bins = np.searchsorted(EDGES, gaps_us, side="right") - 1
        sums_us = np.zeros(BINS, dtype=np.int64)
        np.add.at(sums_us, bins, gaps_us)
        return cls(tuple(np.bincount(bins, minlength=BINS).tolist()), tuple(sums_us.tolist()))

    def __add__(self, other: GapHistogram) -> GapHistogram:
        """Return the histogram of the gaps of both."""
        return GapHistogram(
            tuple(map(operator.add, self.counts, other.counts)), tuple(map(operator.add, self.sums_us, other.sums_us))
        )

    @property
    def gaps(self) -> int:
        """How many gaps there are."""
        return sum(self.counts)

    def costs_us(self, break_even_us: int) -> tuple[int, ...]:
        """Return the cost of each edge as a time-out, in us of votes that are up while nothing runs.

        A gap that is shorter than the time-out costs its length; any other costs the time-out and the break-even time.
        """
        below_us = itertools.accumulate(self.sums_us, initial=0)
        beyond_us = map(operator.mul, self.beyond(), _beyond_us(break_even_us))
        return tuple(map(operator.add, below_us, beyond_us))

    def beyond(self) -> tuple[int, ...]:
        """Return, for each edge, how many gaps are at least as long: the number of cold starts with that time-out."""
        return tuple(itertools.accumulate(self.counts[:-1], operator.sub, initial=self.gaps))

    def quantile_us(self, share_ppm: int) -> tuple[int, int | None]:
        """Return the edges of the bin that contains a quantile of the gaps; the second is None in the last bin.

        Args:
            share_ppm: the share, in millionths; 500,000 is the median.

        Raises:
            ValueError: the histogram is empty, or the share is not from 0 to 1,000,000.
        """
        if not self.gaps or not 0 <= share_ppm <= PPM:
            raise ValueError("a quantile needs at least one gap, and a share from 0 to 1,000,000 ppm")
        rank = max(1, -(-self.gaps * share_ppm // PPM))
        place = next(at for at, up_to in enumerate(itertools.accumulate(self.counts)) if up_to >= rank)
        return EDGES_US[place], EDGES_US[place + 1] if place + 1 < BINS else None

    def as_json(self) -> dict[str, Any]:
        """Return the counts as values for JSON, without the empty bins at both ends."""
        taken = [place for place, count in enumerate(self.counts) if count]
        first, end = (taken[0], taken[-1] + 1) if taken else (0, 0)
        return {"first_bin": first, "counts": self.counts[first:end], "sums_us": self.sums_us[first:end]}

    @classmethod
    def from_json(cls, value: Any) -> GapHistogram:
        """Return the histogram from the values of ``as_json``.

        Raises:
            ValueError: the values are not possible.
        """
        try:
            first, counts, sums_us = (value[name] for name in ("first_bin", "counts", "sums_us"))
            sound = type(first) is int and 0 <= first <= BINS - max(len(counts), len(sums_us))
            before = (0,) * (first if sound else 0)
            made = cls(*((*before, *each, *_NOTHING[len(before) + len(each) :]) for each in (counts, sums_us)))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not counts of gaps: {error}") from None
        if not sound or not all(map(_possible, made.counts, made.sums_us, EDGES_US, (*EDGES_US[1:], None))):
            raise ValueError("the counts and sums of gaps are not possible")
        return made


@lru_cache(maxsize=4)
def _beyond_us(break_even_us: int) -> tuple[int, ...]:
    """Return, for each edge, the cost of a gap beyond it."""
    return tuple(edge_us + break_even_us for edge_us in EDGES_US)


def merged(counts: Iterable[GapHistogram]) -> GapHistogram:
    """Return the sum of histograms."""
    return reduce(operator.add, counts, GapHistogram())


def _possible(count: Any, sum_us: Any, edge_us: int, next_us: int | None) -> bool:
    """Return whether a count and a sum are possible for the gaps of a bin."""
    if type(count) is not int or type(sum_us) is not int or not 0 <= count < _MOST_US or sum_us >= _MOST_US:
        return False
    longest_us = _MOST_US if next_us is None else next_us - 1
    return count * edge_us <= sum_us <= count * longest_us

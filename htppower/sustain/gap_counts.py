"""Counts how many recent gaps there were of each length."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class GapCounts:
    """A histogram of gaps: the count and the sum in each bin. Old gaps lose weight.

    Args:
        edges_us: the rising edges between the bins. A gap at an edge is in the bin above it.
        most: all counts are halved when there are this many gaps.

    Attributes:
        counts, sums_us: the gaps in each bin; there is one more bin than edges.
        counted: how many gaps all bins hold.
    """

    __slots__ = ("_edges_us", "_most", "counted", "counts", "sums_us")

    def __init__(self, edges_us: tuple[int, ...], most: int) -> None:
        self._edges_us = edges_us
        self._most = most
        self.counts = [0] * (len(edges_us) + 1)
        self.sums_us = [0] * (len(edges_us) + 1)
        self.counted = 0

    def add(self, gaps_us: list[int]) -> None:
        """Count some gaps, which must be sorted."""
        if not gaps_us:
            return
        edges_us, begin, most = self._edges_us, 0, len(gaps_us)
        last = bisect_right(edges_us, gaps_us[-1])
        for place in range(bisect_right(edges_us, gaps_us[0]), last + 1):
            end = most if place == last else bisect_left(gaps_us, edges_us[place], begin)
            if end > begin:
                self.counts[place] += end - begin
                self.sums_us[place] += sum(gaps_us[begin:end])
                begin = end
        self.counted += most

    def age(self) -> None:
        """Halve all counts and sums if the histogram is full."""
        if self.counted >= self._most:
            self.counts = [count // 2 for count in self.counts]
            self.sums_us = [sum_us // 2 for sum_us in self.sums_us]
            self.counted = sum(self.counts)

    def time_outs(self) -> Iterator[tuple[int, int, int]]:
        """Yield 0 and each edge as a timeout, the sum of all shorter gaps, and how many other gaps there are."""
        shorter_us, others = 0, self.counted
        for place, edge_us in enumerate((0, *self._edges_us)):
            yield edge_us, shorter_us, others
            shorter_us += self.sums_us[place]
            others -= self.counts[place]

    def restore(self, counts: list[int], sums_us: list[int]) -> None:
        """Replace all counts and sums.

        Raises:
            ValueError: they belong to other edges.
        """
        if not len(counts) == len(sums_us) == len(self.counts):
            raise ValueError("counts or sums of another form")
        self.counts, self.sums_us, self.counted = list(counts), list(sums_us), sum(counts)

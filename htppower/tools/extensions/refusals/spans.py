"""Parts of a text."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Spans:
    """Parts of a text that, like JSON values, are either separate or nested.

    Args:
        parts: the offsets of the first character of each part, and after its last.
    """

    def __init__(self, parts: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(parts)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def cover(self, start: int, end: int) -> bool:
        """Return whether a value is inside one of the parts, or equal to one."""
        before = bisect_right(self._starts, start)
        return before > 0 and end <= self._ends[before - 1]

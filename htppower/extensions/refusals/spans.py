"""Parts of a text."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Spans:
    """Parts of a text, of which any two either stand beside each other or one in the other, as JSON values do.

    Args:
        parts: the first character of each, and the one behind its last.
    """

    def __init__(self, parts: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(parts)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def cover(self, start: int, end: int) -> bool:
        """Return whether a value stands in one of them, or is one."""
        before = bisect_right(self._starts, start)
        return before > 0 and end <= self._ends[before - 1]

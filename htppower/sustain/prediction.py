"""When the next inference of a session is predicted to begin: as its host says, or since the begins are even."""

from __future__ import annotations

from collections import deque

# So many intervals between begins in a row have to be even, and a period of half a minute is none to wait for.
_EVEN_INTERVALS = 8
_LONGEST_US = 30_000_000
# How far an interval may be from the middle one, as a part of that.
_EVEN_PART = 10


class Prediction:
    """Predicts one begin after the other.

    A hint of the host goes before what the begins say by themselves: eight intervals in a row, none of which is more
    than a tenth away from the middle one.

    Attributes:
        hinted: whether the host has said when the next inference begins, or how often they do.
    """

    __slots__ = ("_at_us", "_every_us", "_intervals_us", "_last_us", "_since_us")

    def __init__(self) -> None:
        self._at_us: int | None = None
        self._every_us: int | None = None
        self._last_us: int | None = None
        self._since_us = 0
        self._intervals_us: deque[int] = deque(maxlen=_EVEN_INTERVALS)

    @property
    def hinted(self) -> bool:
        """Whether the host has said when the next inference begins, or how often they do."""
        return self._at_us is not None or self._every_us is not None

    def expect(self, at_us: int | None, every_us: int | None, since_us: int = 0) -> None:
        """Take a hint in the place of the one before: the next begin, or the time between two; with neither, none.

        ``since_us``: begins before that are not meant, as that of an inference that runs when the hint is given.
        """
        self._at_us, self._every_us, self._since_us = at_us, every_us, since_us

    def began(self, begun_us: int) -> None:
        """Take in that an inference has begun. What was said of the next begin was said of this one."""
        if begun_us >= self._since_us:
            self._at_us = None
        if self._last_us is not None and begun_us <= self._last_us:
            return
        if self._last_us is not None:
            self._intervals_us.append(begun_us - self._last_us)
        self._last_us = begun_us

    def next_us(self, now_us: int) -> int | None:
        """Return when the next inference is predicted to begin, later than now; None where nothing tells that."""
        if self._at_us is not None:
            return self._at_us if self._at_us > now_us else None
        every_us = self._every_us or self._even_us()
        if every_us is None or self._last_us is None:
            return None
        missed = max(0, (now_us - self._last_us) // every_us)
        return self._last_us + (missed + 1) * every_us

    def _even_us(self) -> int | None:
        """Return the time between two begins, where that is even."""
        intervals_us = sorted(self._intervals_us)
        if len(intervals_us) < _EVEN_INTERVALS:
            return None
        middle_us = intervals_us[_EVEN_INTERVALS // 2]
        widest_us = max(middle_us - intervals_us[0], intervals_us[-1] - middle_us)
        return middle_us if 0 < middle_us <= _LONGEST_US and widest_us * _EVEN_PART <= middle_us else None

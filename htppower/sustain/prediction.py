"""When the next inference of a session is predicted to begin, and how often a wrong prediction may cause a raise."""

from __future__ import annotations

# This many intervals between begins in a row must be even. An interval over half a minute is not predicted.
_EVEN_INTERVALS = 8
_LONGEST_US = 30_000_000
# An interval counts as even if it differs from the median by at most this part of the median.
_EVEN_PART = 10

# All in quarters of a raise: the price of one raise, the allowance at first and at most, and the reward for a right
# prediction.
_PRICE = 4
_FIRST = 2 * _PRICE
_MOST = 4 * _PRICE
_REWARD = 1


class Prediction:
    """Predicts the next begin: from the host's hint, or, without a hint, from eight even intervals in a row."""

    __slots__ = ("_at_us", "_every_us", "_intervals_us", "_last_us", "_since_us")

    def __init__(self) -> None:
        self._at_us: int | None = None
        self._every_us: int | None = None
        self._last_us: int | None = None
        self._since_us = 0
        self._intervals_us: tuple[int, ...] = ()

    @property
    def hinted(self) -> bool:
        """Whether there is a hint when the next inference begins, or how often inferences begin."""
        return self._at_us is not None or self._every_us is not None

    def expect(self, at_us: int | None, every_us: int | None, since_us: int = 0) -> None:
        """Replace the hint: the next begin, or the time between two begins; no hint if both are None.

        ``since_us``: begins before this time do not use the hint up, since an inference may be running when the hint is
        given.
        """
        self._at_us, self._every_us, self._since_us = at_us, every_us, since_us

    def began(self, begun_us: int) -> None:
        """Record that an inference has begun; this uses up a hint for the next begin."""
        if begun_us >= self._since_us:
            self._at_us = None
        if self._last_us is not None:
            if begun_us <= self._last_us:
                return
            self._intervals_us = (*self._intervals_us[1 - _EVEN_INTERVALS :], begun_us - self._last_us)
        self._last_us = begun_us

    def next_us(self, now_us: int) -> int | None:
        """Return the next predicted begin after now; None if no begin is predicted."""
        if self._at_us is not None:
            return self._at_us if self._at_us > now_us else None
        every_us = self._every_us or self._even_us()
        if every_us is None or self._last_us is None:
            return None
        missed = max(0, (now_us - self._last_us) // every_us)
        return self._last_us + (missed + 1) * every_us

    def _even_us(self) -> int | None:
        """Return the interval between begins if the last intervals are even; otherwise None."""
        intervals_us = sorted(self._intervals_us)
        if len(intervals_us) < _EVEN_INTERVALS:
            return None
        middle_us = intervals_us[_EVEN_INTERVALS // 2]
        widest_us = max(middle_us - intervals_us[0], intervals_us[-1] - middle_us)
        return middle_us if 0 < middle_us <= _LONGEST_US and widest_us * _EVEN_PART <= middle_us else None


class Allowance:
    """Limits wrong raises ahead: at most two, and one more for every four predictions that were right."""

    __slots__ = ("_left", "_spent")

    def __init__(self) -> None:
        self._left = _FIRST
        # The price of the votes that are up now. It is the price of several raises if the host has corrected its hint
        # since the raise.
        self._spent = 0

    def spend(self) -> bool:
        """Pay for a raise; return False if the allowance is too small."""
        if self._left < _PRICE:
            return False
        self._left -= _PRICE
        self._spent += _PRICE
        return True

    def settle(self, *, right: bool) -> None:
        """Record whether a prediction was right, even if the allowance was too small for its raise.

        If it was right, its price is put back with a reward.
        """
        if right:
            self._left = min(_MOST, self._left + self._spent + _REWARD)
        self._spent = 0

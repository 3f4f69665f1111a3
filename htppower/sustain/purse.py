"""What raises ahead of a predicted begin may cost: each is paid for, and only predictions that were right pay back."""

from __future__ import annotations

# In quarters of a raise: what there is at first and at most, and what a prediction gives that was right.
_PRICE = 4
_FIRST = 2 * _PRICE
_MOST = 4 * _PRICE
_REWARD = 1


class Purse:
    """Pays for raises ahead. At most 2 of them are wrong, and one more for every four predictions that were right.

    Attributes:
        right, wrong: how many raises ahead found an inference, and how many did not.
    """

    __slots__ = ("_left", "_staked", "right", "wrong")

    def __init__(self) -> None:
        self._left = _FIRST
        # What was paid for the votes that are up now: more than one price where the prediction was corrected since.
        self._staked = 0
        self.right = self.wrong = 0

    def pay(self) -> bool:
        """Pay for a raise; return False where there is not enough left."""
        if self._left < _PRICE:
            return False
        self._left -= _PRICE
        self._staked += _PRICE
        return True

    def was_right(self) -> None:
        """Take in that an inference has begun while its votes were up ahead of it."""
        self.right += 1
        staked, self._staked = self._staked, 0
        self._left = min(_MOST, self._left + staked + _REWARD)

    def would_be_right(self) -> None:
        """Take in that an inference has begun as predicted, for which there was not enough left."""
        self._left = min(_MOST, self._left + _REWARD)

    def was_wrong(self) -> None:
        """Take in that none has."""
        self.wrong += 1
        self._staked = 0

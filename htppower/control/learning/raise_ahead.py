"""Raises ahead of a predicted begin, so that the inference finds its votes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.core.sustain_timer import NO_DEADLINE
from htppower.control.time.alarms import armed_or_logged
from htppower.sustain.prediction import Prediction
from htppower.sustain.purse import Purse

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.sustain_timer import SustainTimer
    from htppower.control.time.base import Time


class RaiseAhead:
    """What one session predicts, and what it does about that. The lock of its gate is held.

    The votes are raised so long before a predicted begin as the profile says, and stay up as long after it; then they
    come down again. A purse bounds how often that may be in vain.

    Attributes:
        prediction: when the next inference is predicted to begin.
        lead_us: how long before that the votes are raised; 0 never does it.
        purse: what that may cost.
    """

    __slots__ = (
        "_alarm",
        "_calls",
        "_due_us",
        "_found_up",
        "_refused",
        "_time",
        "_timer",
        "lead_us",
        "prediction",
        "purse",
    )

    def __init__(self, time: Time, timer: SustainTimer) -> None:
        self._time = time
        self._timer = timer
        self.prediction = Prediction()
        self.purse = Purse()
        self.lead_us = self._due_us = 0
        self._alarm: Any = None
        # Whether votes that are up for a predicted begin went up for it, or were up and stay so.
        self._calls = False
        # How many inferences have begun without waiting, since their votes went up ahead of them.
        self._found_up = 0
        # Whether the purse did not pay for what is due.
        self._refused = False

    def arm(self, deadline_us: int, rang: Callable[[], None]) -> None:
        """Have an alarm ring ahead of the predicted begin, where the votes are to come down before.

        Where none can be set, the inference waits.
        """
        now_us = self._time.now_us
        begin_us = self.prediction.next_us(now_us)
        self.disarm()
        if not self.lead_us or begin_us is None or begin_us <= deadline_us:
            return
        self._due_us = begin_us
        ahead_us = max(now_us, begin_us - self.lead_us)
        lost = "no timer for a predicted inference: it waits for its votes"
        self._alarm = armed_or_logged(self._time, ahead_us, rang, lost)

    def raise_now(self, *, up: bool) -> bool:
        """Take in that the alarm rings; return whether the votes are to be up now. ``up``: whether they are."""
        # One that rings too late raises nothing: those votes would come down at once.
        in_time = self._due_us - self.lead_us <= self._time.now_us < self._due_us + self.lead_us
        if not self._due_us or not in_time:
            return False
        self._refused = not self.purse.pay()
        if self._refused:
            return False
        self._calls = self.made_calls or not up
        self._timer.until_us = self._due_us + self.lead_us
        self._alarm, self._due_us = None, 0
        return True

    def began(self, begun_us: int, *, waited: bool) -> None:
        """Take in that an inference has begun; it may have waited for the raise that was made ahead of it."""
        self.prediction.began(begun_us)
        if self.is_up:
            found_up = self.made_calls and not waited
            self._timer.until_us = NO_DEADLINE
            self._found_up += found_up
            self.purse.was_right()
        elif self._refused and abs(begun_us - self._due_us) <= self.lead_us:
            self.purse.would_be_right()
        self._refused = False

    @property
    def is_up(self) -> bool:
        """Whether votes are up for a predicted begin."""
        return self._timer.until_us != NO_DEADLINE

    @property
    def made_calls(self) -> bool:
        """Whether votes are up for a predicted begin that went up for it: the inference saves no call."""
        return self._calls and self.is_up

    def found_up(self, *, busy: bool) -> int:
        """Return how many inferences found votes up that went up ahead of them; ``busy``: whether one runs now."""
        return self._found_up + (busy and self.made_calls)

    def give_up(self) -> None:
        """Take in that votes which are up for a predicted begin come down without it."""
        if self.is_up:
            self._timer.until_us = NO_DEADLINE
            self.purse.was_wrong()

    def missed(self) -> None:
        """Take in that an inference is gone of which nobody knows when it began: while votes were up for it, if any."""
        if self.is_up:
            self._timer.until_us = NO_DEADLINE
            self.purse.was_right()

    def disarm(self) -> None:
        """Raise nothing ahead of what was predicted before."""
        alarm, self._alarm, self._due_us = self._alarm, None, 0
        if alarm is not None:
            self._time.cancel(alarm)

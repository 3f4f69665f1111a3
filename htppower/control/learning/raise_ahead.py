"""Raises votes before a predicted inference, so that the inference does not wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.gate.sustain_timer import NO_DEADLINE
from htppower.control.time.base import armed_or_logged
from htppower.sustain.prediction import Allowance, Prediction

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.gate.sustain_timer import SustainTimer
    from htppower.control.time.base import Time


class RaiseAhead:
    """Raises the votes of one session before a predicted inference. The lock of its gate is held.

    The votes go up ``lead_us`` before the predicted begin, and come down ``lead_us`` after it if no inference begins.
    An allowance limits how often this may be in vain.

    Args:
        time: clock and alarms.
        timer: its ``until_us`` keeps the votes up.
        fire: the function that raises the votes; the alarm calls it.

    Attributes:
        predicts: whether begins are recorded: from the first hint on, or from the first profile with a raise ahead.
        prediction: predicts the next begin.
        lead_us: how long before the begin the votes go up; 0 for no raise ahead.
        found_up: how many inferences have found votes up that were raised for them. They do not count as having saved
            calls.
    """

    def __init__(self, time: Time, timer: SustainTimer, fire: Callable[[], None]) -> None:
        self._time = time
        self._timer = timer
        self._fire = fire
        self._allowance = Allowance()
        self._alarm: Any = None
        self._predicted_us = 0
        # Whether the votes were raised for the predicted begin. If not, they were up already.
        self._made_calls = False
        # Whether the allowance was too small to raise for the predicted begin.
        self._refused = False
        self.predicts = False
        self.prediction = Prediction()
        self.lead_us = self.found_up = 0

    def arm(self, deadline_us: int) -> None:
        """Arm the alarm for the predicted begin, unless the votes stay up until then."""
        now_us = self._time.now_us
        begin_us = self.prediction.next_us(now_us)
        self._disarm()
        if begin_us is None or begin_us <= deadline_us:
            return
        self._predicted_us = begin_us
        lost = "no timer for a predicted inference: it waits for its votes"
        self._alarm = armed_or_logged(self._time, max(now_us, begin_us - self.lead_us), self._fire, lost)

    def raise_now(self, *, up: bool) -> bool:
        """Return whether to raise the votes, now that the alarm has rung. ``up``: whether the votes are up already."""
        # The alarm rings too late for a raise: the votes would be lowered at once.
        if not self._predicted_us or not -self.lead_us <= self._time.now_us - self._predicted_us < self.lead_us:
            return False
        self._refused = not self._allowance.spend()
        if self._refused:
            return False
        self._made_calls = self.made_calls or not up
        self._timer.until_us = self._predicted_us + self.lead_us
        self._alarm, self._predicted_us = None, 0
        return True

    def began(self, begun_us: int, *, waited: bool) -> None:
        """Record the first begin of an idle session. ``waited``: the inference waits for its votes all the same."""
        self.prediction.began(begun_us)
        self.found_up += self.made_calls and not waited
        if self._refused and not self.is_up and abs(begun_us - self._predicted_us) <= self.lead_us:
            self._allowance.settle(right=True)
        self.end(right=True)
        self._refused = False

    def end(self, *, right: bool) -> None:
        """End a raise ahead, if there is one: an inference has begun (``right``), or no inference will begin."""
        if self.is_up:
            self._timer.until_us = NO_DEADLINE
            self._allowance.settle(right=right)

    def expire(self) -> bool:
        """End a raise ahead if its time is over; return whether the votes are lowered for this reason."""
        until_us = self._timer.until_us
        if not self.is_up or until_us > self._time.now_us:
            return False
        self.end(right=False)
        if until_us <= self._timer.deadline_us:
            return False
        # Otherwise the lowering would count as late since the earlier deadline, although votes were up on purpose.
        self._timer.deadline_us = until_us
        return True

    def cancel(self) -> None:
        """Forget the predicted inference."""
        self._disarm()
        self.end(right=False)

    @property
    def is_up(self) -> bool:
        """Whether votes are up for a predicted begin."""
        return self._timer.until_us != NO_DEADLINE

    @property
    def made_calls(self) -> bool:
        """Whether votes went up for a predicted begin: so its inference will not count as having saved calls."""
        return self._made_calls and self.is_up

    def _disarm(self) -> None:
        alarm, self._alarm, self._predicted_us = self._alarm, None, 0
        if alarm is not None:
            self._time.cancel(alarm)

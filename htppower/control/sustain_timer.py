"""The sustain time of a session: when its votes come down, by which alarm, and what is learnt for the next gap."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any, Protocol

from htppower.control.interrupts import is_from_outside
from htppower.control.learning.further import Further
from htppower.control.learning.watch import Watch
from htppower.profiles.sustain import Adaptive, first_us
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.learning.raise_ahead import RaiseAhead
    from htppower.control.plans import Plan
    from htppower.control.time.base import Time
    from htppower.events import Cause
    from htppower.sustain.learner import Learner

_LOGGER = logging.getLogger("htppower")
# No phase ends before 0, and a deadline is set in whole microseconds.
_NEVER = -1
# The deadline where a sustain was ended: before all others.
NO_DEADLINE = -1


class Rung(Protocol):
    """What an alarm of a sustain time calls: the gate."""

    def rang(self, at_us: int, cause: Cause) -> None:
        """Take in that an alarm rings."""


class SustainTimer:
    """Says when the votes of one session come down, and arms the alarm for that. The lock of its gate is held.

    ``phases`` reads and writes the fields itself: a method call more on the hot path would cost as much again.

    Args:
        session: the record of the session.
        time: clock and alarms.
        plan: what the session casts.
        recall: returns what the session begins to learn a time with, told whether that is the one of the second power
            state; None where it begins with nothing.

    Attributes:
        ended_ns: when the last inference ended; whatever else sets the deadline sets this accordingly.
        us: how long votes stay up after it.
        alarm, alarm_us: the alarm that is armed, or None, and when it rings.
        covered: whether that rings no later than the sustain of any inference that ends from now on.
        watch: what times the begins of inferences, or None where nobody asks for that. It is never taken away again: a
            token may hold an old begin.
        further: when the votes relax further, None where none of the plans so far has said that.
    """

    __slots__ = (
        "_deinit_ns",
        "_recall",
        "_session",
        "_time",
        "alarm",
        "alarm_us",
        "covered",
        "ended_ns",
        "further",
        "us",
        "watch",
    )

    def __init__(
        self,
        session: object,
        time: Time,
        plan: Plan,
        recall: Callable[..., Learner] | None = None,
    ) -> None:
        self._session = session
        self._time = time
        self._recall = recall
        # When a DE-INIT ended, where that has set the deadline; an inference that ends later changes only that.
        self._deinit_ns = _NEVER
        self.ended_ns = 0
        self.alarm: Any = None
        self.alarm_us = 0
        self.covered = False
        self.watch: Watch | None = None
        self.us = self._first_us(plan)
        self.further: Further | None = None
        self._follow_further(plan)
        self.deadline_us = 0

    @property
    def deadline_us(self) -> int:
        """When the votes of an idle session come down."""
        deadline_us = self.ended_ns // 1000 + self.us
        ahead = None if self.watch is None else self.watch.ahead
        # Where nothing is raised ahead, NO_DEADLINE is what it is.
        return deadline_us if ahead is None or not ahead.until_us else max(deadline_us, ahead.until_us)

    @deadline_us.setter
    def deadline_us(self, deadline_us: int) -> None:
        self._put(deadline_us, after_deinit=self.after_deinit)

    def _put(self, deadline_us: int, *, after_deinit: bool) -> None:
        # An inference that ends in the same microsecond as a DE-INIT is told apart by the nanosecond. The hot path
        # leaves an old one where it is: the same deadline, set once more, must not be taken for it.
        ended_ns = (deadline_us - self.us) * 1000 + after_deinit
        self._deinit_ns = ended_ns if after_deinit else _NEVER
        self.ended_ns = ended_ns

    @property
    def ahead(self) -> RaiseAhead | None:
        """What raises votes ahead of a predicted begin, None where nothing does.

        What is asked at each transition reads it off ``watch``: a property takes longer than what it is asked for.
        """
        return None if self.watch is None else self.watch.ahead

    @property
    def after_deinit(self) -> bool:
        """Whether a DE-INIT was the last phase to end."""
        return self._deinit_ns == self.ended_ns

    def ends(self) -> tuple[int, bool, bool]:
        """Return the deadline, whether a DE-INIT has set it, and whether votes are up for a predicted inference."""
        ahead = None if self.watch is None else self.watch.ahead
        return self.deadline_us, self._deinit_ns == self.ended_ns, ahead is not None and ahead.until_us > 0

    def follow(self, plan: Plan) -> None:
        """Go by another plan from now on; the deadline stays."""
        deadline_us, self.covered = self.deadline_us, False
        self.us = self._first_us(plan)
        self.deadline_us = deadline_us
        if self.watch is not None:
            self.watch.label = (self._session, plan)
        self._follow_further(plan)

    def watched(self, plan: Plan) -> Watch:
        """Return what times the begins of inferences, from now on."""
        if self.watch is None:
            self.watch = Watch(self._time, plan.after_inference_us)
        return self.watch

    def _first_us(self, plan: Plan) -> int:
        """Return how long votes stay up that a plan casts from now on, by what its session has learnt before."""
        sustain = plan.after_inference_us
        if self.watch is None:
            if not isinstance(sustain, Adaptive) and not plan.raise_ahead_us:
                return sustain
            self.watch = Watch(self._time, sustain, plan.raise_ahead_us, plan.profile.name, self._made_for(plan))
        else:
            self.watch.follow(sustain, plan.raise_ahead_us, plan.profile.name, self._made_for(plan))
        learnt_us = self.watch.time_out_us
        return first_us(sustain) if learnt_us is None else learnt_us

    def _follow_further(self, plan: Plan) -> None:
        if self.further is None:
            if plan.then is None:
                return
            self.further = Further()
        after_us = None if plan.then is None else plan.then_after_us
        self.further.follow(after_us, plan.profile, self._made_for(plan, further=True))

    def _made_for(self, plan: Plan, *, further: bool = False) -> Callable[[Adaptive], Learner]:
        if self._recall is None:
            return make_learner
        return functools.partial(self._recall, self._session, plan, further=further)

    def end_inference(self) -> None:
        """Take in that an inference has ended, off the hot path."""
        self._put(self._time.now_us + self.us, after_deinit=False)

    def end_init(self, after_init_us: int) -> None:
        """Take in that INIT has ended, after which votes stay up for so long."""
        self._put(max(self.deadline_us, self._time.now_us + after_init_us), after_deinit=False)

    def end_deinit(self) -> None:
        """Take in that DE-INIT has ended."""
        self._put(self._time.now_us, after_deinit=True)

    def begin_gap(self, rang: Callable[[], None], now_us: int | None = None) -> None:
        """Choose the time-out of the gap that begins; ``rang`` is called ahead of its end where that is predicted.

        ``now_us``: what time it is where the session has been idle before.
        """
        watch = self.watch
        if watch is None:
            return
        chosen_us = watch.choose(now_us)
        if watch.ahead is None and chosen_us == self.us:
            return
        if chosen_us is not None:
            self.us = chosen_us
        self.covered = False
        if watch.ahead is not None:
            watch.ahead.arm(self.deadline_us, rang)

    def forget_gap(self) -> None:
        """Take the time since the last inference for no gap, and expect none after it."""
        if self.watch is not None:
            self.watch.forget_gap()
            learnt_us = self.watch.time_out_us
            if learnt_us is not None and learnt_us != self.us:
                # A hint had chosen another, for that gap alone.
                self.us, self.covered = learnt_us, False
        if self.further is not None:
            self.further.forget_gap()

    def end(self) -> None:
        """End a pending sustain."""
        # First: it may take back a hint, by which the deadline moves.
        self.forget_gap()
        self.deadline_us = NO_DEADLINE
        self.disarm()

    def arm(self, gate: Rung, cause: Cause) -> bool:
        """See to it that an alarm is armed, no later than the deadline; return False where none can be."""
        deadline_us = self.deadline_us
        ringing = self.alarm is not None and self.alarm_us <= deadline_us
        if not ringing and not self.set_alarm(gate, deadline_us, cause):
            self.deadline_us = min(deadline_us, self._time.now_us)
            return False
        self.covered = self.alarm_us <= self._time.now_us + self.us
        return True

    def set_alarm(self, gate: Rung, at_us: int, cause: Cause) -> bool:
        """Arm the alarm in the place of the one before; return False where none can be."""
        self.disarm()
        # First: one that counts as armed for another time would count so for good.
        self.alarm_us = at_us
        try:
            self.alarm = self._time.call_at(at_us, _Ring(gate, at_us, cause))
        except Exception as error:
            if is_from_outside(error):
                raise
            # No thread can be started, as at the very end of a process: better lowered too early than never.
            _LOGGER.exception("no timer for %r: its votes are lowered at once", self._session)
            return False
        return True

    def close(self) -> None:
        """Arm no alarm from now on."""
        self.disarm()
        self.forget_gap()
        if self.ahead is not None:
            self.ahead.lead_us = 0

    def disarm(self) -> None:
        """Take the alarm back."""
        self.covered, alarm = False, self.alarm
        if alarm is not None and alarm is not self:
            # One that is taken back must not count as armed where an exception comes meanwhile.
            self.alarm = None
            self._time.cancel(alarm)

    def rang(self, at_us: int, *, busy: bool) -> bool:
        """Take in that an alarm rings; return whether votes come down that were up for a predicted begin."""
        if self.alarm is not None and self.alarm_us == at_us:
            self.alarm, self.covered = None, False
        ahead, now_us = self.ahead, self._time.now_us
        if busy or ahead is None or not 0 < ahead.until_us <= now_us:
            return False
        until_us = ahead.until_us
        ahead.give_up()
        if until_us <= self.deadline_us:
            return False
        self.deadline_us = until_us
        return True

    def disown(self) -> None:
        """In a forked child: arm no alarm, and note nothing."""
        # The timer itself stands for an alarm that never rings, so that none is armed again.
        self.alarm, self.alarm_us, self.covered = self, NO_DEADLINE, True
        self.watch = self.further = None


class _Ring:
    """What an alarm does. A partial of a method weighs four times as much, in every session in a window."""

    __slots__ = ("_at_us", "_cause", "_gate")

    def __init__(self, gate: Rung, at_us: int, cause: Cause) -> None:
        self._gate = gate
        self._at_us = at_us
        self._cause = cause

    def __call__(self) -> None:
        self._gate.rang(self._at_us, self._cause)

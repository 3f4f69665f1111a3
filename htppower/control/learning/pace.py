"""The pace of a session: what its inferences teach, and what follows for when its votes come down, and go up.

Few sessions have one: those whose profile learns a time, relaxes further or raises ahead, that are given a hint, or
that are recorded.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.learning.further import Further
from htppower.control.learning.watch import Watch
from htppower.events import Trigger
from htppower.profiles.sustain import Adaptive, first_us
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.plans import Plan
    from htppower.control.core.sustain_timer import SustainTimer
    from htppower.control.core.tokens import Token, Tokens
    from htppower.control.learning.raise_ahead import RaiseAhead
    from htppower.control.time.base import Time
    from htppower.sustain.learner import Learner


class Pace:
    """What is learnt and predicted of one session. The lock of its gate is held.

    Args:
        session: the record of the session.
        time: clock and alarms.
        tokens: those of its phases.
        timer: says when its votes come down, and is told how long they stay up.
        expects: called when votes are to go up for a predicted inference.
        recall: returns what the session begins to learn a time with, told whether that is the one of the second power
            state; None where it begins with nothing.

    Attributes:
        watch: what times the begins of inferences, or None where nobody asks for that. It is never taken away again: a
            token may hold an old begin.
        further: when the votes relax further, None where none of the plans so far has said that.
    """

    __slots__ = ("_expects", "_recall", "_session", "_time", "_timer", "_tokens", "further", "watch")

    def __init__(
        self,
        session: object,
        time: Time,
        tokens: Tokens,
        timer: SustainTimer,
        expects: Callable[[], None],
        recall: Callable[..., Learner] | None,
    ) -> None:
        self._session = session
        self._time = time
        self._tokens = tokens
        self._timer = timer
        self._expects = expects
        self._recall = recall
        self.watch: Watch | None = None
        self.further: Further | None = None

    @property
    def ahead(self) -> RaiseAhead | None:
        """What raises votes ahead of a predicted begin, None where nothing does."""
        return None if self.watch is None else self.watch.ahead

    def follow(self, plan: Plan) -> int:
        """Go by another plan from now on; return how long votes stay up after its inferences, as far as is known."""
        sustain = plan.after_inference_us
        if isinstance(sustain, Adaptive) or plan.raise_ahead_us:
            self.timed(plan)
        if self.watch is not None:
            self.watch.follow(sustain, plan.raise_ahead_us, plan.profile.name, self._made_for(plan))
            self.watch.label = (self._session, plan)
        self._follow_further(plan)
        learnt_us = None if self.watch is None else self.watch.time_out_us
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

    def timed(self, plan: Plan) -> Watch:
        """Return what times the begins of inferences, from now on."""
        if self.watch is None:
            self.watch = Watch(self._time, self._timer, self._tokens, (self._session, plan))
            # After that: an inference that begins between the two is timed, or counted here.
            if self._tokens.in_flight:
                self.watch.begun_before()
        return self.watch

    def begins(self) -> None:
        """Take in the begin of what runs, before the gap and the prediction that end with it are forgotten."""
        if self.watch is not None and (first := self._tokens.first()) is not None:
            self.watch.runs(first)

    def waits(self, token: Token) -> None:
        """Learn from the gap that an inference has ended which waits for a call."""
        if self.watch is not None and self._tokens.first() is token:
            self.watch.runs(token)
        if self.further is not None:
            self.further.raises(self._time.now_us, waited=True)

    def begin_gap(self, now_us: int | None = None) -> None:
        """Choose the time-out of the gap that begins, and have votes raised before its end where that is predicted.

        ``now_us``: what time it is where the session has been idle before.
        """
        watch, timer = self.watch, self._timer
        if watch is None:
            return
        chosen_us = watch.choose(now_us)
        if watch.ahead is None and chosen_us == timer.us:
            return
        if chosen_us is not None:
            timer.us = chosen_us
        timer.covered = False
        if watch.ahead is not None:
            watch.ahead.arm(timer.deadline_us, self._expects)

    def forget_gap(self) -> None:
        """Take the time since the last inference for no gap, and expect none after it."""
        timer = self._timer
        if self.watch is not None:
            self.watch.forget_gap()
            learnt_us = self.watch.time_out_us
            if learnt_us is not None and learnt_us != timer.us:
                # A hint had chosen another, for that gap alone.
                timer.us, timer.covered = learnt_us, False
        if self.further is not None:
            self.further.forget_gap()

    def break_gap(self) -> None:
        """Take in that INIT or DE-INIT begins or ends, or another profile is used: this is no gap to learn from."""
        self.begins()
        self.forget_gap()

    def dropped(self) -> None:
        """Take in that a session is idle again whose inference does not begin."""
        if self.watch is not None:
            self.watch.forget_first()
            self.begin_gap()

    def miss(self, inferences: int) -> None:
        """Take in inferences that nobody has ended, and that are collected."""
        if self.watch is not None:
            self.watch.miss(inferences, self._time.now_ns())
        if not self._tokens.in_flight:
            self.forget_gap()
        if not self._tokens.busy():
            self.begin_gap()

    def expect(self, plan: Plan, in_us: int | None, every_us: int | None, now_us: int) -> None:
        """Take a hint of when inferences begin."""
        at_us = None if in_us is None else now_us + in_us
        # An inference that runs is not the one that is meant.
        since_us = now_us + self._tokens.busy()
        self.timed(plan).predict().prediction.expect(at_us, every_us, since_us)

    def raise_now(self, *, up: bool) -> bool:
        """Take in that a begin is near; return whether votes are to go up for it. ``up``: whether they are."""
        raises = self.ahead is not None and self.ahead.raise_now(up=up)
        if raises and self.further is not None:
            self.further.raises(self._time.now_us, waited=False)
        return raises

    def in_vain(self) -> bool:
        """Take in that none has begun that was predicted; return whether votes come down that were up for it."""
        ahead, until_us = self.ahead, self._timer.until_us
        if ahead is None or not ahead.is_up or until_us > self._time.now_us:
            return False
        ahead.give_up()
        if until_us <= self._timer.deadline_us:
            return False
        self._timer.deadline_us = until_us
        return True

    def found_up(self, *, busy: bool) -> int:
        """Return how many inferences found votes up that went up ahead of them; ``busy``: whether one runs now."""
        return 0 if self.ahead is None else self.ahead.found_up(busy=busy)

    def moved(self, trigger: Trigger) -> None:
        """Take in a transition that was made: from when the votes are relaxed, and whether they are further."""
        if self.further is None:
            return
        if trigger is Trigger.LOWER_FURTHER:
            self.further.reached = True
        elif trigger is Trigger.LOWER and not self._timer.after_deinit:
            self.further.lowered(self._time.now_us)
        else:
            self.further.forget()

    def close(self) -> None:
        """Raise nothing ahead from now on."""
        self.forget_gap()
        if self.ahead is not None:
            self.ahead.lead_us = 0

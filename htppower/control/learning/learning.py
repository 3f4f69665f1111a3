"""Learning: learns from the inferences of a session, and so decides when its votes change.

Few sessions learn: those whose profile has a learnt time, a second power state or a raise ahead, those with a hint, and
those that are recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.learning.gap_timer import GapTimer
from htppower.control.learning.learners import Learners
from htppower.control.learning.raise_ahead import RaiseAhead
from htppower.events import Trigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.gate.sustain_timer import SustainTimer
    from htppower.control.gate.tokens import Tokens
    from htppower.control.plans.plans import Plan
    from htppower.control.time.base import Time
    from htppower.profiles.profile import Profile
    from htppower.sustain.base import Learner

_NEVER = -1


class SecondState:
    """Knows when the lowered votes of one session relax to the second power state. The lock of its gate is held.

    The time counts from the lowering. If it is learnt, a gap lasts from the lowering to the next raise.

    Attributes:
        learners: learn this time.
    """

    def __init__(self, learners: Learners) -> None:
        self.learners = learners
        # The profile in use, and the profile that was in use when the votes were lowered.
        self._profile: Profile | None = None
        self._lowered_by: Profile | None = None
        # When the votes were lowered, and the same time again if something is to be learnt from it.
        self._lowered_us = self._gap_from_us = _NEVER
        self._reached = False

    def use_plan(self, plan: Plan) -> None:
        """Use the time of another plan.

        Votes that were lowered under another profile stay unchanged until that profile is used again.
        """
        self._profile = plan.profile
        self.learners.use(plan, None if plan.then is None else plan.then_after_us)

    @property
    def due_us(self) -> int | None:
        """When the votes relax to the second state; None if they are not lowered, have relaxed already, or never do."""
        after_us = self.learners.time_out_us
        if self._reached or after_us is None or self._lowered_us == _NEVER or self._lowered_by != self._profile:
            return None
        return self._lowered_us + after_us

    def moved(self, trigger: Trigger, now_us: int, *, after_deinit: bool, begun_us: int | None) -> None:
        """Record a transition.

        ``after_deinit``: whether DE-INIT was the last phase to end. ``begun_us``: when an inference began to wait. If
        the first raise fails, the votes go up later, but the gap has ended at the begin.
        """
        if trigger is Trigger.LOWER_FURTHER:
            self._reached = True
            return
        learner = self.learners.current
        if trigger is Trigger.RAISE and learner is not None and self._gap_from_us != _NEVER:
            ended_us = now_us if begun_us is None else max(begun_us, self._gap_from_us)
            learner.learn(ended_us - self._gap_from_us, waited=begun_us is not None)
        lowered = trigger is Trigger.LOWER and not after_deinit
        self._lowered_us = self._gap_from_us = now_us if lowered else _NEVER
        self._lowered_by = self._profile
        self._reached = False

    def forget_gap(self) -> None:
        """Do not learn from the current gap. The votes still relax at their time."""
        self._gap_from_us = _NEVER


class Learning:
    """Learns and predicts for one session. The lock of its gate is held.

    Once a session has it, it keeps it: the tokens then hold the begins of their inferences.

    Args:
        session: the record of the session.
        plan: the votes and times of the session.
        time: clock and alarms.
        tokens: the tokens of its phases.
        timer: its sustain timer.
        raise_ahead: called when votes must be raised for a predicted inference.
        recall: returns a learner that continues with times learnt earlier (``Learnt.make``); None to begin without any.

    Attributes:
        gaps: times the gaps between inferences.
        ahead: raises votes before a predicted inference.
        second: knows when lowered votes relax to the second power state.
    """

    def __init__(
        self,
        session: object,
        plan: Plan,
        time: Time,
        tokens: Tokens,
        timer: SustainTimer,
        raise_ahead: Callable[[], None],
        recall: Callable[..., Learner] | None,
    ) -> None:
        self._session = session
        self._time = time
        self._tokens = tokens
        self._timer = timer
        self.ahead = RaiseAhead(time, timer, raise_ahead)
        self.gaps = GapTimer(tokens, self.ahead, Learners(session, recall, further=False))
        self.second = SecondState(Learners(session, recall, further=True))
        self.use_plan(plan)

    def use_plan(self, plan: Plan) -> None:
        """Use another plan. The caller has called ``break_gap`` before."""
        self.gaps.label = self._session, plan
        self.gaps.learners.use(plan, plan.after_inference_us)
        self.ahead.lead_us = plan.raise_ahead_us
        if plan.raise_ahead_us:
            self.gaps.predict()
        self.second.use_plan(plan)

    def all_learners(self) -> tuple[tuple[Learners, bool], ...]:
        """Return the learners of both times, each with whether it is the time until the second power state."""
        return (self.gaps.learners, False), (self.second.learners, True)

    def begin_gap(self, now_us: int | None = None) -> None:
        """Choose the timeout of the gap that has begun, and arm the alarm for a raise ahead of its end.

        ``now_us``: the present time, if a hint comes in the middle of the gap.
        """
        self._use_hint(now_us)
        self._set_sustain()
        if self.ahead.lead_us:
            self.ahead.arm(self._timer.deadline_us)

    def break_gap(self) -> None:
        """Do not learn from the time until the next inference, since INIT, DE-INIT or a new plan is between them."""
        self.gaps.break_gap()
        self._set_sustain()
        self.ahead.cancel()
        self.second.forget_gap()

    def drop(self) -> None:
        """Record that the only inference that was counted does not begin after all."""
        self.gaps.end_gap()
        self.begin_gap()

    def miss(self, inferences: int) -> None:
        """Record that inferences were garbage collected before they ended."""
        self.gaps.miss(inferences, self._time.now_ns())
        if not self._tokens.in_flight:
            self.break_gap()
        if not self._tokens.busy():
            self.begin_gap()

    def expect(self, in_us: int | None, every_us: int | None) -> None:
        """Take a hint when inferences begin."""
        now_us, busy = self._time.now_us, self._tokens.busy()
        at_us = None if in_us is None else now_us + in_us
        # The hint predicts the next inference, not one that runs already.
        self.ahead.prediction.expect(at_us, every_us, since_us=now_us + busy)
        self.gaps.predict()
        if not busy:
            self.begin_gap(now_us)

    def moved(self, trigger: Trigger) -> None:
        """Record a transition."""
        first = self._tokens.first()
        begun_us = None if first is None else first.begun_ns // 1000
        self.second.moved(trigger, self._time.now_us, after_deinit=self._timer.after_deinit, begun_us=begun_us)

    def close(self) -> None:
        """Make no raise ahead from now on."""
        self.break_gap()
        self.ahead.lead_us = 0

    def _set_sustain(self) -> None:
        us = self.gaps.learners.time_out_us
        if us is not None and us != self._timer.us:
            self._timer.us, self._timer.covered = us, False

    def _use_hint(self, now_us: int | None) -> None:
        learner, idle_us, prediction = self.gaps.learners.current, self.gaps.idle_us, self.ahead.prediction
        if learner is None or idle_us is None or not prediction.hinted:
            return
        passed_us = 0 if now_us is None else now_us - idle_us
        if now_us is not None and passed_us >= learner.time_out_us:
            return  # the votes were lowered
        begin_us = prediction.next_us(idle_us + passed_us)
        if begin_us is not None:
            learner.hint(begin_us - idle_us, passed_us)

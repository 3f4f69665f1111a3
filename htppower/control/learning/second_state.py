"""The second power state of a session: when its lowered votes relax to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Trigger

if TYPE_CHECKING:
    from htppower.control.learning.learners import Learners
    from htppower.control.plans.plans import Plan
    from htppower.profiles.profile import Profile

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

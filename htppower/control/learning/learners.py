"""One time of a session, such as its sustain time: fixed by the profile, or learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.plans.plans import Plan
    from htppower.profiles.sustain import Sustain
    from htppower.sustain.base import Learner, Savings


class Learners:
    """Learns one time of a session, with one learner for each profile: so after a hold the earlier learner continues.

    The lock of the session's gate is held.

    Args:
        session: the record of the session.
        recall: returns a learner that continues with the learnt times of a profile (``Learnt.make``), or is None.
        further: whether this is the time until the second power state, and not the sustain time.

    Attributes:
        short_gaps_ns: gaps shorter than the timeout. They change only sums, so the hot path appends them here, and they
            are counted later.
    """

    def __init__(self, session: object, recall: Callable[..., Learner] | None, *, further: bool) -> None:
        self._session = session
        self._recall = recall
        self._further = further
        self._kept: dict[tuple[str, Adaptive], Learner] = {}
        self._learner: Learner | None = None
        self._fixed_us: int | None = None
        self._told_us = 0
        self.short_gaps_ns: list[int] = []

    def use(self, plan: Plan, sustain: Sustain | None) -> None:
        """Use the time of another plan; with None, use no time."""
        self.sum_up()
        self._learner = self._fixed_us = None
        if not isinstance(sustain, Adaptive):
            self._fixed_us = sustain
            return
        key = plan.profile.name, sustain
        # Taken out here and put back below, so that the profile in use is the last one.
        learner = self._kept.pop(key, None)
        if learner is None and self._recall is not None:
            learner = self._recall(self._session, plan, sustain, further=self._further)
        self._kept[key] = self._learner = learner = learner or make_learner(sustain)
        self._told_us = learner.learnt_us

    @property
    def current(self) -> Learner | None:
        """The learner in use, which has learnt from all gaps up to now; None if the time is fixed."""
        self.sum_up()
        return self._learner

    @property
    def time_out_us(self) -> int | None:
        """The timeout of the next gap; None if the plan has no such time."""
        return self._fixed_us if self._learner is None else self._learner.time_out_us

    def sum_up(self) -> None:
        """Learn from the gaps in ``short_gaps_ns``."""
        if self._learner is not None and self.short_gaps_ns:
            gaps_us = [gap_ns // 1000 for gap_ns in self.short_gaps_ns]
            self.short_gaps_ns.clear()
            self._learner.learn_within(gaps_us)

    def take_change(self) -> tuple[int, int, Savings] | None:
        """Return the time that was reported last, the present time, and what the choices cost; None without a change.

        The present time then counts as reported.
        """
        learner, before_us = self.current, self._told_us
        if learner is None or learner.learnt_us == before_us:
            return None
        self._told_us = learner.learnt_us
        return before_us, self._told_us, learner.savings()

    def states(self) -> list[tuple[str, Adaptive, dict[str, int | list[int]]]]:
        """Return each profile, how its time is learnt, and what the learner knows. The profile in use is the last one.

        A profile may occur several times, since its file may have changed.
        """
        self.sum_up()
        return [(profile, sustain, learner.state()) for (profile, sustain), learner in self._kept.items()]

"""What is noted of the inferences of a session: the gaps from which its sustain time is learnt, and all, for a record.

Most sessions have none of it, and no begin of theirs reads a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.tokens import NOT_TIMED
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.profiles.sustain import Sustain
    from htppower.sustain.learner import Learner

# Later than every begin.
_LATE = 1 << 62
# Gaps within the time-out change only sums, so they are learnt from together: the hot path appends to a list.
_TOGETHER = 32


class Watch:
    """Measures the gaps between the inferences of one session. The lock of its gate is held.

    A gap is from the end of the last inference to the first begin after it. One in which INIT or DE-INIT runs, or the
    sustain time becomes another, is no gap.

    Attributes:
        record: called with what is recorded of each inference that ends, ``(label, begun_ns, ended_ns, waited)``, or
            None where nothing is: a function in C, so that no interrupt comes in it.
        label: what names the session there.
        told_us: the time-out that was told last.
    """

    __slots__ = (
        "_first_ns",
        "_hot_ns",
        "_idle_ns",
        "_learner",
        "_learners",
        "_relearnt",
        "_within_ns",
        "label",
        "record",
        "told_us",
    )

    def __init__(self, sustain: Sustain) -> None:
        # Those of the profiles that the session has used: a hold that ends finds what was learnt before it.
        self._learners: dict[Adaptive, Learner] = {}
        self._learner: Learner | None = None
        # Gaps within the time-out, to be learnt from; and how long one is at most of which nothing else is to be noted.
        self._within_ns: list[int] = []
        self._hot_ns = 0
        # Whether the time-out is another since the last inference ended.
        self._relearnt = False
        self.record: Callable[[Any], object] | None = None
        self.label: object = None
        self.follow(sustain)

    def follow(self, sustain: Sustain) -> None:
        """Learn the time of another profile from now on, or none."""
        self._sum_up()
        self.forget_gap()
        self._learner = None
        if isinstance(sustain, Adaptive):
            self._learner = self._learners.get(sustain)
            if self._learner is None:
                self._learner = self._learners[sustain] = make_learner(sustain)
        self.told_us = self.time_out_us

    @property
    def learner(self) -> Learner | None:
        """What learns the sustain time, and knows all gaps up to now; None where the time is fixed."""
        self._sum_up()
        return self._learner

    @property
    def time_out_us(self) -> int | None:
        """The sustain time that was learnt, or None where it is fixed."""
        return None if self._learner is None else self._learner.time_out_us

    def forget_gap(self) -> None:
        """Take the time since the last inference for no gap."""
        self._first_ns = self._idle_ns = _LATE
        self._hot_ns = 0

    def waits(self, begun_ns: int) -> None:
        """Take in that an inference has begun which waits for a call: learn from the gap that it ends."""
        self._begin(begun_ns)
        self._end_gap()

    def end(self, begun_ns: int, ended_ns: int, waited: bool, last: bool) -> bool:
        """Take in that an inference has ended, the ``last`` one or another; return whether the time-out changed."""
        gap_ns = begun_ns - self._idle_ns
        if last and 0 <= gap_ns < self._hot_ns:
            self._idle_ns = ended_ns
            self._within_ns.append(gap_ns)
            if len(self._within_ns) >= _TOGETHER:
                self._sum_up()
            return False
        if begun_ns == NOT_TIMED:
            if last:
                self.forget_gap()
            return False
        if self.record is not None:
            self.record((self.label, begun_ns, ended_ns, waited))
        self._begin(begun_ns)
        if not last:
            return False
        self._end_gap()
        self._first_ns, self._idle_ns = _LATE, ended_ns
        self._set_hot()
        relearnt, self._relearnt = self._relearnt, False
        return relearnt

    def _begin(self, begun_ns: int) -> None:
        self._first_ns = min(begun_ns, self._first_ns)
        self._hot_ns = 0

    def _end_gap(self) -> None:
        """Learn from the gap that has ended, unless that was done."""
        idle_ns, self._idle_ns = self._idle_ns, _LATE
        learner = self.learner
        if idle_ns != _LATE and learner is not None:
            before_us = learner.time_out_us
            learner.learn(max(0, self._first_ns - idle_ns) // 1000)
            if learner.time_out_us != before_us:
                self._relearnt = True

    def _set_hot(self) -> None:
        self._hot_ns = 0 if self.record is not None or self._learner is None else 1000 * self._learner.time_out_us

    def _sum_up(self) -> None:
        if self._within_ns and self._learner is not None:
            within_ns, self._within_ns = self._within_ns, []
            self._learner.learn_within([gap_ns // 1000 for gap_ns in within_ns])

"""What is noted of the inferences of a session: the gaps from which its sustain time is learnt, and all, for a record.

Most sessions have none of it, and no begin of theirs reads a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.profiles.sustain import Sustain
    from htppower.sustain.learner import Learner

# Later than every begin.
_NOT_BEGUN = 1 << 62
# No gap is measured from before 0.
_NO_GAP = -1


class Watch:
    """Measures the gaps between the inferences of one session. The lock of its gate is held.

    A gap is from the end of the last inference to the first begin after it. One in which INIT or DE-INIT runs, or the
    sustain time becomes another, is no gap.

    Attributes:
        learner: what learns the sustain time, or None where it is fixed.
        record: called with what is recorded of each inference that ends, ``(label, begun_ns, ended_ns, waited)``, or
            None where nothing is: a function in C, so that no interrupt comes in it.
        label: what names the session there.
        told_us: the time-out that was told last.
    """

    __slots__ = ("_first_ns", "_idle_ns", "_learners", "label", "learner", "record", "told_us")

    def __init__(self, sustain: Sustain) -> None:
        # Those of the profiles that the session has used: a hold that ends finds what was learnt before it.
        self._learners: dict[Adaptive, Learner] = {}
        self.record: Callable[[Any], object] | None = None
        self.label: object = None
        self.follow(sustain)

    def follow(self, sustain: Sustain) -> None:
        """Learn the time of another profile from now on, or none."""
        self.forget_gap()
        self.learner = None
        if isinstance(sustain, Adaptive):
            self.learner = self._learners.get(sustain)
            if self.learner is None:
                self.learner = self._learners[sustain] = make_learner(sustain)
        self.told_us = None if self.learner is None else self.learner.time_out_us

    def forget_gap(self) -> None:
        """Take the time since the last inference for no gap."""
        self._first_ns, self._idle_ns = _NOT_BEGUN, _NO_GAP

    def begin(self, begun_ns: int) -> None:
        """Take in that an inference has begun."""
        self._first_ns = min(self._first_ns, begun_ns)

    def end_gap(self, begun_ns: int) -> None:
        """Learn from the gap that an inference ends which began so, unless another one has ended it before."""
        idle_ns, self._idle_ns = self._idle_ns, _NO_GAP
        if idle_ns >= 0 and self.learner is not None:
            self.learner.learn(max(0, min(begun_ns, self._first_ns) // 1000 - idle_ns // 1000))

    def rest(self, begun_ns: int, ended_ns: int) -> None:
        """Take in that the last inference has ended, and when it had begun."""
        self.end_gap(begun_ns)
        self._first_ns, self._idle_ns = _NOT_BEGUN, ended_ns

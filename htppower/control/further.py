"""The second power state of a session: when its relaxed votes relax further, and what that was learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.sustain import Adaptive, first_us
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from htppower.profiles.sustain import Sustain
    from htppower.sustain.learner import Learner

# No session was lowered before 0.
_NOT_LOWERED = -1


class Further:
    """When the votes of one session relax further. The lock of its gate is held.

    The time counts from when they were relaxed. Where it is learnt, its gaps are from then to the next begin: so it is
    a game of its own, with a bank of its own.

    Args:
        sustain: how long after the first power state, in us, or how that is learnt.

    Attributes:
        reached: whether they are in force.
        learner: what learns the time, None where it is fixed.
    """

    __slots__ = ("_lowered_us", "_sustain", "learner", "reached")

    def __init__(self, sustain: Sustain) -> None:
        self._sustain = sustain
        self.learner: Learner | None = make_learner(sustain) if isinstance(sustain, Adaptive) else None
        self.reached = False
        self._lowered_us = _NOT_LOWERED

    @property
    def due_us(self) -> int | None:
        """When the votes are to relax further; None where they have, or are not relaxed."""
        if self.reached or self._lowered_us == _NOT_LOWERED:
            return None
        return self._lowered_us + (first_us(self._sustain) if self.learner is None else self.learner.time_out_us)

    def lowered(self, now_us: int) -> None:
        """Take in that the votes are relaxed."""
        self._lowered_us, self.reached = now_us, False

    def began(self, begun_us: int) -> None:
        """Take in that an inference begins: learn from how long the votes were relaxed before."""
        lowered_us = self._lowered_us
        self.forget()
        if self.learner is not None and lowered_us != _NOT_LOWERED:
            self.learner.learn(max(0, begun_us - lowered_us))

    def forget(self) -> None:
        """Take in that the votes are not relaxed any more, or not by an inference that ended."""
        self._lowered_us, self.reached = _NOT_LOWERED, False

"""The second power state of a session: when its relaxed votes relax further, and what that was learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.learning.learners import Learners
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.profiles.profile import Profile
    from htppower.profiles.sustain import Sustain
    from htppower.sustain.learner import Learner

# No session was lowered before 0.
_NOT_LOWERED = -1


class Further:
    """When the votes of one session relax further. The lock of its gate is held.

    The time counts from when they were relaxed. Where it is learnt, its gaps are from then to the next raise: so it is
    a game of its own, with a bank of its own.

    Attributes:
        reached: whether they are in force.
        learner: what learns the time, None where it is fixed.
        learners: those of all profiles that the session has used.
        told_us: the time that was told last.
    """

    __slots__ = (
        "_after_us",
        "_gap_from_us",
        "_lowered_by",
        "_lowered_us",
        "_profile",
        "learner",
        "learners",
        "reached",
        "told_us",
    )

    def __init__(self) -> None:
        self._after_us: int | None = None
        # The profile in use, and the one whose power state the votes are relaxed to.
        self._profile: Profile | None = None
        self._lowered_by: Profile | None = None
        self._lowered_us = _NOT_LOWERED
        # Since when the gap lasts that is to be learnt from.
        self._gap_from_us = _NOT_LOWERED
        self.learner: Learner | None = None
        self.learners = Learners()
        self.reached = False
        self.told_us: int | None = None

    def follow(self, sustain: Sustain | None, profile: Profile, make: Callable[[Adaptive], Learner]) -> None:
        """Relax further so long after the first power state from now on, or, with None, not at all.

        Votes that another profile has relaxed stay as they are until that one is used again. ``make`` returns what it
        is learnt with, where the session has not used such a profile before.
        """
        self._profile = profile
        self.learner = self._after_us = None
        if isinstance(sustain, Adaptive):
            self.learner = self.learners.find(profile.name, sustain, make)
        else:
            self._after_us = sustain
        self.told_us = self.learnt_us

    @property
    def learnt_us(self) -> int | None:
        """The time that was learnt, None where it is fixed."""
        return None if self.learner is None else self.learner.learnt_us

    @property
    def due_us(self) -> int | None:
        """When the votes are to relax further; None where they have, or are not relaxed, or stay as they are."""
        after_us = self._after_us if self.learner is None else self.learner.time_out_us
        if self.reached or after_us is None or self._lowered_us == _NOT_LOWERED or self._lowered_by != self._profile:
            return None
        return self._lowered_us + after_us

    def lowered(self, now_us: int) -> None:
        """Take in that the votes are relaxed."""
        self._lowered_us = self._gap_from_us = now_us
        self._lowered_by = self._profile
        self.reached = False

    def raises(self, now_us: int, *, waited: bool) -> None:
        """Take in that the votes are to be raised: learn once from how long they were relaxed.

        They still are where the raise is not made, as where an exception such as Ctrl-C comes before it: then they
        relax further in time. ``waited``: whether an inference waits for the raise.
        """
        gap_from_us, self._gap_from_us = self._gap_from_us, _NOT_LOWERED
        if self.learner is not None and gap_from_us != _NOT_LOWERED:
            self.learner.learn(max(0, now_us - gap_from_us), waited=waited)

    def forget_gap(self) -> None:
        """Learn nothing from how long the votes have been relaxed; they relax further in time nevertheless."""
        self._gap_from_us = _NOT_LOWERED

    def forget(self) -> None:
        """Take in that the votes are not relaxed any more, or not by an inference that ended."""
        self._lowered_us = self._gap_from_us = _NOT_LOWERED
        self.reached = False

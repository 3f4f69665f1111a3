"""Levels: the distinct profiles of the modes of a session, from low to high, and the inferences that run at each.

All modes share the power config ids of one session. With a session for each mode, the DSP would lift the limits of
every mode while the votes of another one exist, even lowered ones, so that a low mode would be a floor and not a limit.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from htppower.control.core.line import Urgency
from htppower.control.phases.async_blocks import awaited
from htppower.control.plans.precedence import Claim, rank
from htppower.events import Cause, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from htppower.control.modes.level_inference import LevelInference
    from htppower.control.phases.blocks import Phases
    from htppower.errors import VoteRejected
    from htppower.profiles.profile import Profile


class Levels:
    """Choose the profile of the highest level in flight; the last one stays when nothing is in flight.

    INIT and DE-INIT count at the level of the profile of the session. ``SessionRecord.chosen`` asks for the level
    whenever the session is settled.

    Args:
        phases: begin and end the inferences of the session.
        profiles: the profiles of the modes, none of them beyond the profile of the session.

    Attributes:
        profiles: the distinct profiles, from low to high; a level is an index of them.
        of: the level of each mode; the key None has the level of the profile of the session.
    """

    def __init__(self, phases: Phases, profiles: Mapping[str, Profile]) -> None:
        self.phases = phases
        own = phases.session.own
        self._tokens = phases.gate.tokens
        self.profiles = tuple(sorted({own, *profiles.values()}, key=rank))
        self.of: dict[str | None, int] = {mode: self.profiles.index(profile) for mode, profile in profiles.items()}
        self.of[None] = self.profiles.index(own)
        # The level of the profile that the session uses now, and the level whose votes are in force, or those of its
        # power state. The second one is None while a thread changes them.
        self._level = self.of[None]
        self._applied: int | None = self._level
        names = {level: mode for mode, level in reversed(self.of.items()) if mode is not None}
        self._names = tuple(names.get(level) for level in range(len(self.profiles)))
        self._claim: Claim | None = None
        # The running inferences of each level. Sets change in one step, so this needs no lock, and finalizers may use
        # it.
        self._running: tuple[set[weakref.ref[LevelInference]], ...] = tuple(set() for _ in self.profiles)
        self._downwards = tuple(enumerate(self._running))[::-1]
        session = phases.session
        with phases.gate.lock:
            if session.modes is not None and session.modes() is not None:
                raise ValueError(f"session {session.number} has modes already: use what its modes() returned")
            session.modes = weakref.ref(self)

    def add(self, inference: LevelInference, level: int) -> None:
        """Count an inference at this level, until ``remove`` or until it is garbage collected."""
        running = self._running[level]
        # ``discard`` is a C function, so no exception can interrupt this callback, and it takes no lock.
        running.add(weakref.ref(inference, running.discard))

    def remove(self, inference: LevelInference, level: int) -> None:
        """Stop counting an inference at this level."""
        # Weak references to the same object are equal, so this finds the reference that has the callback.
        self._running[level].discard(weakref.ref(inference))

    def forget(self, inference: LevelInference) -> None:
        """Stop counting an inference, at whichever level: another thread may have changed it."""
        reference = weakref.ref(inference)
        for running in self._running:
            running.discard(reference)

    @property
    def raised(self) -> bool:
        """Whether votes are up, so that another profile would replace them."""
        return self.phases.session.state is State.RAISED

    def follow(self) -> None:
        """Use the profile of the highest level in flight; if votes are up, return when its votes are in force.

        If the new profile is lower than the one in force, this does not wait.

        Raises:
            VoteRejected: the votes failed and the controller has ``on_error="raise"``.
        """
        if not self._may_go_on():
            home = self.phases.home
            home.raise_failure(self.phases.session, home.engine.run(self._follow, Urgency.RAISE))

    async def afollow(self, if_closed: Callable[[], object]) -> None:
        """Do what ``follow`` does, in a coroutine: the worker makes the calls.

        ``if_closed``: called by the worker if the event loop is closed by then.
        """
        if not self._may_go_on():
            home = self.phases.home
            home.raise_failure(self.phases.session, await awaited(home.engine, self._follow, Urgency.RAISE, if_closed))

    def follow_soon(self) -> None:
        """Use the profile of the highest level in flight, without waiting; finalizers may call this."""
        if self._top() != self._applied:
            self.phases.home.engine.post(self._follow, Urgency.LOWER)

    def _may_go_on(self) -> bool:
        """Return whether an inference need not wait for another profile."""
        top, applied = self._top(), self._applied
        if top == applied:
            return True
        if applied is None or top > applied or not self.raised:
            return False
        self.follow_soon()
        return True

    def _top(self) -> int:
        """Return the highest level in flight, or the present level if nothing is in flight."""
        if self._tokens.preparing:
            return self.of[None]
        for level, running in self._downwards:
            if running:
                return level
        return self._level

    def choose(self) -> Claim | None:
        """Return the highest mode in flight; None if the profile of the session counts. The line is held."""
        # A thread that has changed the sets compares this next. So it notices the change, or ``_top`` notices its own.
        applied, self._applied = self._applied, None
        level = self._top()
        if level == applied:
            self._applied = applied
        if level != self._level or self._claim is None:
            self._level, mode = level, self._names[level]
            now_us = self.phases.gate.time.now_us
            self._claim = None if mode is None else Claim(0, "mode", self.profiles[level], mode, now_us)
        return None if self._tokens.preparing and level == self.of[None] else self._claim

    def _follow(self) -> VoteRejected | None:
        """Give the session the profile of the highest level in flight; the line is held."""
        self.choose()  # even if the session is closed, or belongs to the parent process
        error = self.phases.home.reconciler.settle(self.phases.session, Cause.PROFILE_CHANGED, only_if_changed=True)
        self._applied = self._level
        return error

"""A session with modes: each inference names one, and the highest mode in flight decides the profile of the session.

All modes share the power config ids of one session. With a session for each mode, the DSP would lift the limits of
every mode while the votes of another one exist, even lowered ones, so that a low mode would be a floor and not a limit.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

from htppower.control.arguments import checked_timeout_us
from htppower.control.core.line import Urgency
from htppower.control.modes.mode_inference import ModeInference
from htppower.control.phases.async_blocks import awaited
from htppower.control.phases.streams import Token, vote_on_stream
from htppower.control.plans.precedence import exceeds, rank
from htppower.events import Cause, State
from htppower.profiles.did_you_mean import did_you_mean

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.phases.blocks import Phases
    from htppower.errors import VoteRejected
    from htppower.profiles.profile import Profile


def named_profiles(
    modes: Mapping[str, str | os.PathLike[str] | Profile] | Iterable[str],
) -> dict[str, str | os.PathLike[str] | Profile]:
    """Return the profiles of modes by the names of the modes; a list has the names of profiles.

    Raises:
        TypeError: the modes are one text, or the name of a mode is not a text.
    """
    if isinstance(modes, str):
        raise TypeError(f"modes are {modes!r}: a list of names, such as ('burst', 'balanced'), or profiles by name")
    named = dict(modes) if isinstance(modes, Mapping) else {name: name for name in modes}
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"the name of a mode is {name!r}: a text")
    return named


class ModeSession:
    """A session whose inferences name their mode. ``Session.modes`` makes it.

    While inferences of several modes are in flight, the highest mode in the vendor's order counts. A change of the mode
    is a change of the profile: if votes are raised, they are replaced without a lowering in between. When no inference
    is in flight, the votes of the last mode stay up for its sustain time.

    Attributes:
        profiles: the profile that each mode uses.
        capped: the modes that use the profile of the session, since their own goes beyond it.
        ordered: the distinct profiles, from low to high. A level is an index of this tuple.
    """

    def __init__(self, phases: Phases, profiles: Mapping[str, Profile]) -> None:
        most = phases.session.own
        self.capped = frozenset(name for name, profile in profiles.items() if exceeds(profile, most))
        self.profiles: Mapping[str, Profile] = MappingProxyType(
            {name: most if name in self.capped else profile for name, profile in profiles.items()}
        )
        self.phases = phases
        self.ordered = tuple(sorted({most, *self.profiles.values()}, key=rank))
        self._levels = {name: self.ordered.index(profile) for name, profile in self.profiles.items()}
        self._default = self._level = self.ordered.index(most)
        # The level whose votes are in force, or those of its power state; None while another thread changes them.
        self._applied: int | None = self._level
        # The running inferences of each level. Sets change in one step, so this needs no lock, and finalizers may use
        # it.
        self._running: tuple[set[weakref.ref[ModeInference]], ...] = tuple(set() for _ in self.ordered)

    def inference(self, mode: str | None = None, *, at_most: bool = False) -> ModeInference:
        """Return a context manager for one inference in a mode, for ``with`` and for ``async with``.

        Entering it returns when votes of this mode or a higher one are in force. Its ``use`` changes the mode.

        Args:
            mode: a name of ``profiles``; None for the profile of the session.
            at_most: ``use`` never goes above this mode.

        Raises:
            ValueError: the mode is unknown.
            VoteRejected, SessionClosed: on entering, for the same reasons as in ``Session.inference``.
        """
        level = self.level(mode)
        return ModeInference(self, level, level if at_most else len(self.ordered) - 1)

    @overload
    def stream(
        self, tokens: AsyncIterable[Token], mode: str | None, *, then: str, idle_timeout_us: int | None = None
    ) -> AsyncGenerator[Token, None]: ...

    @overload
    def stream(
        self, tokens: Iterable[Token], mode: str | None, *, then: str, idle_timeout_us: int | None = None
    ) -> Generator[Token, None, None]: ...

    def stream(
        self,
        tokens: AsyncIterable[Token] | Iterable[Token],
        mode: str | None,
        *,
        then: str,
        idle_timeout_us: int | None = None,
    ) -> AsyncGenerator[Token, None] | Generator[Token, None, None]:
        """Return a generator of the same tokens: one inference, which changes its mode after the first token.

        So a language model has one mode for the prompt, and another one for decoding. Nothing waits for the change.
        All else is as in ``Session.stream``.

        Args:
            tokens: an iterator or an asynchronous iterator.
            mode: the mode until the first token.
            then: the mode from then on.
            idle_timeout_us: as in ``Session.stream``.

        Raises:
            ValueError: a mode is unknown, or the timeout is below 1 us.
            TypeError: the timeout is not a whole number.
        """
        idle_timeout_us = checked_timeout_us("idle_timeout_us", idle_timeout_us)
        inference, later = self.inference(mode), self.level(then)

        def first_token() -> None:
            inference.move(later)
            self.follow_soon()

        return vote_on_stream(self.phases, tokens, idle_timeout_us, inference, first_token)

    def level(self, mode: str | None) -> int:
        """Return the place of a mode among the profiles, from low to high.

        Raises:
            ValueError: the mode is unknown.
        """
        if mode is None:
            return self._default
        level = self._levels.get(mode)
        if level is None:
            raise ValueError(f"mode is {mode!r}: {did_you_mean(str(mode), self._levels)}")
        return level

    def add(self, inference: ModeInference, level: int) -> None:
        """Count an inference of this level, until ``remove`` or until it is garbage collected."""
        running = self._running[level]
        # ``discard`` is a C function, so no exception can interrupt this callback, and it takes no lock.
        running.add(weakref.ref(inference, running.discard))

    def remove(self, inference: ModeInference, level: int) -> None:
        """Stop counting an inference of this level."""
        # Weak references to the same object are equal, so this finds the reference that has the callback.
        self._running[level].discard(weakref.ref(inference))

    @property
    def raised(self) -> bool:
        """Whether votes are up, so that another profile would replace them."""
        return self._record.state is State.RAISED

    def follow(self) -> None:
        """Use the profile of the highest mode in flight; if votes are raised, return when its votes are in force.

        If the new profile is lower than the raised votes, this does not wait.

        Raises:
            VoteRejected: the votes failed and the controller has ``on_error="raise"``.
        """
        if not self._may_go_on():
            home = self._record.home
            home.raise_failure(self._record, home.engine.run(self._follow, Urgency.RAISE))

    async def afollow(self) -> None:
        """Do what ``follow`` does, in a coroutine: the worker makes the calls."""
        if not self._may_go_on():
            home = self._record.home
            home.raise_failure(self._record, await awaited(home.engine, self._follow, Urgency.RAISE))

    def follow_soon(self) -> None:
        """Use the profile of the highest mode in flight, without waiting; finalizers may call this."""
        if self._top() != self._applied:
            self._record.home.engine.post(self._follow, Urgency.LOWER)

    @property
    def _record(self) -> SessionRecord:
        return self.phases.session

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
        return next((level for level in range(len(self._running) - 1, -1, -1) if self._running[level]), self._level)

    def _follow(self) -> VoteRejected | None:
        """Give the session the profile of the highest level in flight; the line is held."""
        record = self._record
        # A thread that has changed the sets compares this next. So it notices the change, or ``_top`` notices its own.
        self._applied = None
        self._level = level = self._top()
        record.own = self.ordered[level]
        reason = next((f"mode {name}" for name, at in self._levels.items() if at == level), None)
        error = record.home.reconciler.settle(record, Cause.PROFILE_CHANGED, reason=reason, only_if_changed=True)
        self._applied = level
        return error

    def __repr__(self) -> str:
        """Return the modes and the session."""
        return f"<ModeSession {', '.join(self.profiles)} of {self._record!r}>"

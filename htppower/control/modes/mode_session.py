"""A session with modes: each inference names one, and the highest mode in flight decides the profile of the session."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

from htppower.control.arguments import checked_timeout_us
from htppower.control.modes.level_inference import LevelInference
from htppower.control.modes.levels import Levels
from htppower.control.phases.blocks import NO_BEGIN
from htppower.control.phases.streams import Token, vote_on_stream
from htppower.control.plans.precedence import exceeds
from htppower.errors import PhaseMisuse
from htppower.profiles.did_you_mean import did_you_mean

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
    from types import TracebackType

    from htppower.control.phases.blocks import Phases
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


class ModeInference:
    """The context manager of one inference in a mode, for ``with`` and for ``async with``.

    ``ModeSession.inference`` makes it. An exception, a cancellation or the garbage collector ends it, as an inference
    of ``Session.inference``. Only the block keeps it running: if an exception interrupts the end of the block, the
    inference ends although the host still has the variable after ``as``.
    """

    __slots__ = ("_level", "_level_of", "_levels", "_owned", "_reference")

    def __init__(
        self, levels: Levels, inference: LevelInference, level_of: Callable[[str | None], int], *, owns: bool = True
    ) -> None:
        self._levels = levels
        # The garbage collector may clear the weak reference before it closes a coroutine within its block.
        self._owned = inference if owns else None
        self._reference = weakref.ref(inference)
        self._level = inference.level
        self._level_of = level_of

    @property
    def running(self) -> bool:
        """Whether the inference has begun and not ended."""
        inference = self._inference
        return inference is not None and inference.running

    @property
    def own_profile(self) -> Profile:
        """The profile of its mode."""
        inference = self._inference
        return self._levels.profiles[self._level if inference is None else inference.level]

    @property
    def profile(self) -> Profile:
        """The profile in use now, which a higher mode in flight, a hold or a cap may decide."""
        return self._levels.phases.session.plan.profile

    def use(self, mode: str | None) -> None:
        """Change the mode, and return when votes of this mode or a higher one are in force.

        A change to a lower mode waits for nothing. If the inference has ended, no vote changes.

        Args:
            mode: a mode of the session; None for the profile of the session.

        Raises:
            ValueError: the mode is unknown.
            VoteRejected: the votes failed and the controller has ``on_error="raise"``; the mode has still changed.
        """
        self._move(mode)
        self._levels.follow()

    async def ause(self, mode: str | None) -> None:
        """Change the mode as ``use`` does, in a coroutine: the event loop never waits for a native call."""
        self._move(mode)
        try:
            await self._levels.afollow(self.end)
        except BaseException:
            self._levels.follow_soon()  # the mode has changed
            raise

    def end(self) -> None:
        """End the inference, from any thread, without raising or waiting. If it does not run, do nothing.

        Another thread ends it soon after if a generator that is being closed calls this, or a finalizer or signal
        handler that interrupts the controller's own work. Such a caller may hold a lock that the end needs.
        """
        if (inference := self._inference) is not None:
            inference.end()

    def __enter__(self) -> ModeInference:  # noqa: PYI034 - what ``as`` gets does not keep the inference running
        inference = self._live()
        inference.__enter__()
        return ModeInference(self._levels, inference, self._level_of, owns=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live().__exit__(kind, error, traceback)

    async def __aenter__(self) -> ModeInference:  # noqa: PYI034
        inference = self._live()
        await inference.__aenter__()
        return ModeInference(self._levels, inference, self._level_of, owns=False)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._live().__aexit__(kind, error, traceback)

    @property
    def _inference(self) -> LevelInference | None:
        return self._reference() if self._owned is None else self._owned

    def _live(self) -> LevelInference:
        inference = self._inference
        if inference is None:
            raise PhaseMisuse(NO_BEGIN)
        return inference

    def _move(self, mode: str | None) -> None:
        inference, level = self._inference, self._level_of(mode)
        if inference is not None:
            inference.move(level)
            self._level = inference.level


class ModeSession:
    """A session whose inferences name their mode. ``Session.modes`` makes it.

    While inferences of several modes are in flight, the highest mode in the vendor's order counts. If the mode changes
    while votes are up, other votes replace them, without a lowering in between. When no inference is in flight, the
    votes of the last mode stay up for its sustain time.

    Attributes:
        profiles: the profile that each mode uses.
        capped: the modes that use the profile of the session, since their own goes beyond it.
    """

    def __init__(self, phases: Phases, profiles: Mapping[str, Profile]) -> None:
        most = phases.session.own
        self.capped = frozenset(name for name, profile in profiles.items() if exceeds(profile, most))
        self.profiles: Mapping[str, Profile] = MappingProxyType(
            {name: most if name in self.capped else profile for name, profile in profiles.items()}
        )
        self._levels = Levels(phases, self.profiles)

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
        level = self._level_of(mode)
        inference = LevelInference(self._levels, level, level if at_most else len(self._levels.profiles) - 1)
        return ModeInference(self._levels, inference, self._level_of)

    @overload
    def stream(
        self, tokens: AsyncIterable[Token], mode: str | None, *, then: str | None, idle_timeout_us: int | None = None
    ) -> AsyncGenerator[Token, None]: ...

    @overload
    def stream(
        self, tokens: Iterable[Token], mode: str | None, *, then: str | None, idle_timeout_us: int | None = None
    ) -> Generator[Token, None, None]: ...

    def stream(
        self,
        tokens: AsyncIterable[Token] | Iterable[Token],
        mode: str | None,
        *,
        then: str | None,
        idle_timeout_us: int | None = None,
    ) -> AsyncGenerator[Token, None] | Generator[Token, None, None]:
        """Return a generator of the same tokens: one inference, which changes its mode after the first token.

        So a language model has one mode for the prompt, and another one for decoding. Nothing waits for the change.
        All else is as in ``Session.stream``.

        Args:
            tokens: an iterator or an asynchronous iterator.
            mode: the mode until the first token; None for the profile of the session.
            then: the mode from then on.
            idle_timeout_us: as in ``Session.stream``.

        Raises:
            ValueError: a mode is unknown, or the timeout is below 1 us.
            TypeError: the timeout is not a whole number.
        """
        idle_timeout_us = checked_timeout_us("idle_timeout_us", idle_timeout_us)
        levels, later = self._levels, self._level_of(then)
        inference = LevelInference(levels, self._level_of(mode), len(levels.profiles) - 1)

        def first_token() -> None:
            inference.move(later)
            levels.follow_soon()

        return vote_on_stream(levels.phases, tokens, idle_timeout_us, inference, first_token)

    def _level_of(self, mode: str | None) -> int:
        level = self._levels.of.get(mode)
        if level is None:
            raise ValueError(f"mode is {mode!r}: {did_you_mean(str(mode), self.profiles)}")
        return level

    def __repr__(self) -> str:
        """Return the modes and the session."""
        return f"<ModeSession {', '.join(self.profiles)} of {self._levels.phases.session!r}>"

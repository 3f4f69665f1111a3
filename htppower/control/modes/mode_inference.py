"""An inference that has a mode, and may change it while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import in_closed_generator
from htppower.control.own_work import in_own_work
from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import NO_BEGIN, Inference
from htppower.errors import PhaseMisuse

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from htppower.control.modes.mode_session import ModeSession
    from htppower.profiles.profile import Profile


class ModeInference:
    """The context manager of one inference in a mode, for ``with`` and ``async with``. ``ModeSession`` makes it.

    Its end, an exception, a cancellation or the garbage collector ends the inference, as with ``Session.inference``.
    """

    __slots__ = ("__weakref__", "_inner", "_level", "_modes", "_most")

    def __init__(self, modes: ModeSession, level: int, most: int) -> None:
        self._modes = modes
        self._level = level
        self._most = most
        self._inner: Any = None

    @property
    def running(self) -> bool:
        """Whether the inference has begun and not ended."""
        return self._inner is not None and self._inner.running

    @property
    def profile(self) -> Profile:
        """The profile that is in use now: of this inference, of a higher one in flight, or of a hold or a cap."""
        return self._modes.phases.session.plan.profile

    @property
    def own_profile(self) -> Profile:
        """The profile of its mode."""
        return self._modes.ordered[self._level]

    def use(self, mode: str | None) -> None:
        """Change the mode of the inference, and return when votes of this mode or a higher one are in force.

        A change to a lower mode waits for nothing. If the inference has ended, nothing changes.

        Args:
            mode: a mode of the session; None for the profile of the session.

        Raises:
            ValueError: the mode is unknown.
            VoteRejected: the votes failed and the controller has ``on_error="raise"``; the mode has still changed.
        """
        self.move(self._modes.level(mode))
        self._modes.follow()

    async def ause(self, mode: str | None) -> None:
        """Change the mode as ``use`` does, in a coroutine: the event loop never waits for a native call."""
        self.move(self._modes.level(mode))
        await self._modes.afollow()

    def move(self, level: int) -> None:
        """Count the inference at another level from now on; the caller lets the session follow."""
        modes, before = self._modes, self._level
        level = min(level, self._most)
        if level == before:
            return
        self._level = level
        if self.running:
            modes.add(self, level)
            modes.remove(self, before)
            # Another thread may have ended the inference: it removes the inference from one level only.
            if not self.running:
                modes.remove(self, level)

    def end(self) -> None:
        """End the inference, from any thread, without raising or waiting. If it has ended or not begun, do nothing.

        Another thread ends it soon after if a generator that is being closed calls this, or a finalizer or signal
        handler that interrupts the controller's own work. Such a caller may hold a lock that the end needs.
        """
        if in_closed_generator() or in_own_work():
            self._modes.phases.soon(self._end)
        else:
            self._end()

    def take(self) -> Any:
        """Take the token of the inference, and return it; None if it does not run. The lock of the gate is held."""
        token = self._inner.take()
        self._modes.remove(self, self._level)
        self._modes.phases.soon(self._modes.follow_soon)
        return token

    def __enter__(self) -> Self:
        inner, modes = self._begin(Inference), self._modes
        try:
            if modes.raised:
                # The session is in use from here on, so that a change of the profile replaces its votes. Otherwise it
                # would lower votes that are up only for the sustain time.
                inner.__enter__()
                modes.follow()
            else:
                modes.follow()
                inner.__enter__()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._running_inner().__exit__(kind, error, traceback)
        finally:
            self._left()

    async def __aenter__(self) -> Self:
        inner, modes = self._begin(AsyncInference), self._modes
        try:
            if modes.raised:
                await inner.__aenter__()
                await modes.afollow()
            else:
                await modes.afollow()
                await inner.__aenter__()
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._running_inner().__aexit__(kind, error, traceback)
        finally:
            self._left()

    def _begin(self, form: type[Inference | AsyncInference]) -> Any:
        if self.running:
            raise PhaseMisuse("this inference is being run: call inference() for each")
        if not isinstance(self._inner, form):
            self._inner = form(self._modes.phases)
        self._modes.add(self, self._level)
        return self._inner

    def _running_inner(self) -> Any:
        if self._inner is None:
            raise PhaseMisuse(NO_BEGIN)
        return self._inner

    def _end(self) -> None:
        if self._inner is not None:
            self._inner.end()
        self._left()

    def _left(self) -> None:
        self._modes.remove(self, self._level)
        self._modes.follow_soon()

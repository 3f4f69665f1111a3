"""An inference that runs at a level, and may change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import in_closed_generator
from htppower.control.own_work import in_own_work
from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import NO_BEGIN, Inference
from htppower.errors import PhaseMisuse

if TYPE_CHECKING:
    from types import TracebackType

    from htppower.control.modes.levels import Levels


class LevelInference:
    """The context manager of one inference at a level, for ``with`` and for ``async with``.

    Args:
        levels: the levels of the session.
        level: the level at its begin.
        most: the highest level that it may change to.
    """

    __slots__ = ("__weakref__", "_inner", "_levels", "_most", "level")

    def __init__(self, levels: Levels, level: int, most: int) -> None:
        self._levels = levels
        self.level = level
        self._most = most
        self._inner: Any = None

    @property
    def running(self) -> bool:
        """Whether the inference has begun and not ended."""
        return self._inner is not None and self._inner.running

    def move(self, level: int) -> None:
        """Count the inference at another level from now on; the caller lets the session follow."""
        before, level = self.level, min(level, self._most)
        if level == before:
            return
        self.level = level
        if self.running:
            self._levels.add(self, level)
            self._levels.remove(self, before)
            # Another thread may have ended the inference just before ``add``.
            if not self.running:
                self._levels.forget(self)

    def end(self) -> None:
        """End the inference, without raising or waiting; do nothing if it does not run: see ``ModeInference.end``."""
        if self.running:
            if in_closed_generator() or in_own_work():
                self._levels.phases.soon(self._end)
            else:
                self._end()

    def take(self) -> Any:
        """Take the token of the inference, and return it; None if it does not run. The lock of the gate is held."""
        token = self._inner.take()
        self._levels.forget(self)
        self._levels.phases.soon(self._levels.follow_soon)
        return token

    def __enter__(self) -> None:
        inner, levels = self._begin(Inference), self._levels
        try:
            # The session is in use from here on, so a change of the profile replaces votes that are up only for the
            # sustain time, instead of lowering them, and the session learns from the gap. A raise uses the new profile.
            inner.__enter__()
            levels.follow()
        except BaseException:
            self._end()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        inner = self._begun()
        try:
            inner.__exit__(kind, error, traceback)
        except PhaseMisuse:  # ``end`` has ended it
            pass
        finally:
            self._left()

    async def __aenter__(self) -> None:
        inner, levels = self._begin(AsyncInference), self._levels
        try:
            # A closed loop does not resume this coroutine.
            if not inner.begin():
                await inner.raised(self.end)
            await levels.afollow(self.end)
        except BaseException:
            self._end()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        inner = self._begun()
        self._levels.forget(self)  # a closed loop does not resume this coroutine
        try:
            await inner.__aexit__(kind, error, traceback)
        except PhaseMisuse:
            pass
        finally:
            self._left()

    def _begin(self, form: type[Inference | AsyncInference]) -> Any:
        if self.running:
            raise PhaseMisuse("this inference is being run: call inference() for each")
        if not isinstance(self._inner, form):
            self._inner = form(self._levels.phases)
        self._levels.add(self, self.level)
        return self._inner

    def _begun(self) -> Any:
        if self._inner is None:
            raise PhaseMisuse(NO_BEGIN)
        return self._inner

    def _end(self) -> None:
        self._inner.end()
        self._left()

    def _left(self) -> None:
        self._levels.forget(self)
        self._levels.follow_soon()

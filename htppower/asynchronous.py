"""An inference of a coroutine: as ``phases.Inference``, but what may wait for a native call runs off the loop's thread.

Inside a sustain window entering and leaving never suspend: a lock that no native call is made under, and a counter.
"""
# ruff: noqa: SLF001 - the hot path reads the session's own fields, as that of a thread does

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.ports import Controller
    from htppower.usage import Usage


class AsyncInference:
    """The asynchronous context manager of one inference. Made by ``Session.ainference``.

    A coroutine that is cancelled while the raise is on its way has not begun its inference: the raise goes on, and is
    lowered after it. One that is dropped with its inference, as when its loop is closed, ends it, too.
    """

    __slots__ = ("_controller", "_inside", "_session", "_taken")

    def __init__(self, session: Usage, controller: Controller) -> None:
        self._session = session
        self._controller = controller
        self._taken = False
        self._inside = False

    async def __aenter__(self) -> None:
        if self._taken:
            raise RuntimeError("this inference is being run: call ainference() for each")
        self._taken = True
        session = self._session
        with session._lock:
            if session._ready:
                session._in_flight += 1
                session._begun += 1
                self._inside = True
                return
        begin = functools.partial(session.begin, Cause.INFERENCE_BEGAN, Phase.INFERENCE, preparing=False)
        try:
            await _Errand(begin, begins=session).run_on(self._controller)
        except BaseException:
            self._taken = False
            raise
        self._inside = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit or not self._inside:
            self.end_soon()
            return
        self._inside = self._taken = False
        session = self._session
        if session.finish():
            lower = functools.partial(session.lower, quiet=error is not None)
            await _Errand(lower).run_on(self._controller)

    def end_soon(self) -> None:
        """End the inference on another thread, without waiting and without a lock, unless it has ended.

        It has where it was collected in a cycle with its generator, which is closed after that.
        """
        if self._inside:
            self._inside = self._taken = False
            self._session.end_soon()

    def __del__(self) -> None:
        # A closed loop doesn't close the asynchronous generators that it leaves behind: their frames just go.
        self.end_soon()


class _Errand:
    """An action on the controller's thread, and the coroutine that waits for it.

    The action is carried out even if the coroutine no longer waits. Whoever of the two is first takes ``_turn``, and
    the other knows by that; ``pop`` is atomic and takes no lock, so that the coroutine may be garbage collected.

    Args:
        action: what may wait for a native call.
        begins: the session of which it begins an inference, to be ended where nobody waits for it any more.
    """

    __slots__ = ("_action", "_answer", "_begins", "_error", "_loop", "_turn")

    def __init__(self, action: Callable[[], object], begins: Usage | None = None) -> None:
        import asyncio  # noqa: PLC0415 - a host without coroutines doesn't pay for it

        self._action = action
        self._begins = begins
        self._error: BaseException | None = None
        self._turn = [None]
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[None] = self._loop.create_future()

    async def run_on(self, controller: Controller) -> None:
        """Run the action, wait for it, and raise what it raises."""
        controller.off_thread(self._run)
        try:
            await self._answer
        except BaseException:
            # Cancelled, or closed. Where it is over already, the thread can't see to the end of the inference.
            if not self._takes_turn() and self._error is None and self._begins is not None:
                self._begins.end_soon()
            raise
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 - raised in the coroutine
            self._error = error
        if self._takes_turn():
            # A loop that was closed resumes nobody: the coroutine is collected, and ends what has begun.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._deliver)
        elif self._error is None and self._begins is not None:
            self._begins.end()

    def _deliver(self) -> None:
        if not self._answer.done():
            self._answer.set_result(None)

    def _takes_turn(self) -> bool:
        try:
            self._turn.pop()
        except IndexError:
            return False
        return True

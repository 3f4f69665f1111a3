"""An inference of a coroutine: as ``phases.Inference``, but what may wait for a native call runs off the loop's thread.

Inside a sustain window entering and leaving never suspend: a lock that no native call is made under, and a counter.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.phases import Phases
    from htppower.control.time.workers import ThreadWorker


class AsyncInference:
    """The asynchronous context manager of one inference. Made by ``Session.ainference``.

    A coroutine that is cancelled before the votes are in force has not begun its inference: a raise that is under way
    goes on and is lowered after it; one that still waits is dropped. Where the loop is closed during the raise, it is
    lowered after it, too. A coroutine that is dropped with its inference ends it when it is collected.
    """

    __slots__ = ("_inside", "_phases", "_taken", "_worker")

    def __init__(self, phases: Phases, worker: ThreadWorker) -> None:
        self._phases = phases
        self._worker = worker
        self._taken = False
        self._inside = False

    async def __aenter__(self) -> None:
        if self._taken:
            raise RuntimeError("this inference is being run: call ainference() for each")
        self._taken = True
        phases = self._phases
        gate = phases.gate
        with gate.lock:
            if gate.ready:
                gate.in_flight += 1
                gate.begun += 1
                self._inside = True
                return
        try:
            await _AwaitedAction(phases.begin_inference, begins=phases).run_on(self._worker)
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
        phases = self._phases
        if phases.gate.finish():
            lower = functools.partial(phases.lower, quiet=error is not None)
            await _AwaitedAction(lower).run_on(self._worker)

    def end_soon(self) -> None:
        """End the inference on another thread, without waiting and without a lock, unless it has ended.

        It has where it was collected in a cycle with its generator, which is closed after that.
        """
        if self._inside:
            self._inside = self._taken = False
            self._phases.end_inference_soon()

    def __del__(self) -> None:
        # A closed loop doesn't close the asynchronous generators that it leaves behind: their frames just go.
        self.end_soon()


class _AwaitedAction:
    """An action on a worker, and the coroutine that waits for it.

    Whoever of the two is first takes ``_turn``, and the other knows by that. An inference that was begun for nobody is
    ended by whoever takes ``_owed``. ``pop`` is atomic and takes no lock, so that the coroutine may be garbage
    collected.

    Args:
        action: what may wait for a native call. It is carried out even if the coroutine no longer waits.
        begins: the phases of which it begins an inference, to be ended where nobody waits for it any more, and not to
            be begun where nobody does from the outset.
    """

    __slots__ = ("_action", "_answer", "_begins", "_error", "_loop", "_owed", "_turn")

    def __init__(self, action: Callable[[], object], begins: Phases | None = None) -> None:
        import asyncio  # noqa: PLC0415 - a host without coroutines doesn't pay for it

        self._action = action
        self._begins = begins
        self._error: BaseException | None = None
        self._turn = [None]
        self._owed = [None]
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[None] = self._loop.create_future()

    async def run_on(self, worker: ThreadWorker) -> None:
        """Run the action, wait for it, and raise what it raises."""
        worker.post_or_run(self._run)
        try:
            await self._answer
        except BaseException:
            # Cancelled, or closed. Where the action is over already, the thread may see to nothing any more.
            if not _takes(self._turn) and (begun := self._take_begun()) is not None:
                begun.end_inference_soon()
            raise
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        if self._begins is not None and not self._turn:
            return
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001 - raised in the coroutine
            self._error = error
        if _takes(self._turn):
            # A loop that was closed resumes nobody, and the coroutine may be kept for as long as its host likes.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._deliver)
                return
        if (begun := self._take_begun()) is not None:
            begun.end_inference()

    def _deliver(self) -> None:
        if not self._answer.done():
            self._answer.set_result(None)

    def _take_begun(self) -> Phases | None:
        """Return the phases of which the action has begun an inference, to the first who asks once it is over."""
        return self._begins if self._error is None and _takes(self._owed) else None


def _takes(token: list[None]) -> bool:
    try:
        token.pop()
    except IndexError:
        return False
    return True

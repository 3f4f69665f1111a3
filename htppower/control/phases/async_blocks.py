"""An inference of a coroutine: as ``blocks.Inference``, but what may wait for a native call runs off the loop's thread.

Inside a sustain window entering and leaving never suspend: a lock that no native call is made under, and a counter.
"""

from __future__ import annotations

import contextvars
import functools
from typing import TYPE_CHECKING

from htppower.control.phases.blocks import NO_BEGIN, clear_frames
from htppower.errors import PhaseMisuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.core.tokens import Token
    from htppower.control.phases.blocks import Phases
    from htppower.control.phases.waiting_line import WaitingLine


class AsyncInference:
    """The asynchronous context manager of one inference. Made by ``Session.ainference``.

    A coroutine that is cancelled before the votes are in force has not begun its inference: a raise that is under way
    goes on and is lowered after it; one that still waits is dropped. Where the loop is closed during the raise, it is
    lowered after it, too. A coroutine that is dropped with its inference ends it when it is collected.
    """

    __slots__ = ("_held", "_phases")

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        # The token while it runs; whoever pops it ends the inference: the coroutine, or the thread that finds its loop
        # closed.
        self._held: list[Token] = []

    async def __aenter__(self) -> None:
        if self._held:
            raise PhaseMisuse("this inference is being run: call ainference() for each")
        gate, token, wait, held = self._phases.gate, None, None, False
        try:
            try:
                token = gate.tokens.idle.pop()
            except IndexError:
                token = gate.token()
            pace = gate.pace
            if pace is not None and pace.watch is not None:
                token.begun_ns = gate.time.now_ns()
                token.within = gate.tokens.preparing
            self._held.append(token)
            held = True
            if gate.open:
                return
            wait = functools.partial(self._phases.wait_for_votes, token, gate.time.now_ns())
            await _AwaitedAction(wait, unheard=self._end).run_on(self._phases.line)
        except GeneratorExit:
            if (taken := self.take()) is not None:
                self._phases.drop_inference_soon(taken)
            raise
        except BaseException as error:
            gate.time.call_soon(self._phases.look_again)
            # Once it is held, whoever has taken it has ended it.
            taken = self.take() or (None if held else token)
            if taken is not None:
                try:
                    gate.drop(taken)
                except BaseException as interrupt:
                    # As in a plain inference: a token that was not dropped is counted when nothing refers to it.
                    del taken, token, wait
                    clear_frames(error)
                    clear_frames(interrupt)
                    raise
                finally:
                    self._phases.look_again()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        token = self.take()
        if token is None:
            raise PhaseMisuse(NO_BEGIN)
        phases = self._phases
        if kind is GeneratorExit:
            phases.end_inference_soon(token)
            return
        try:
            must_lower = phases.gate.end(token)
            # It is another's now, and the traceback of a call that fails must not refer to it.
            token = None
            if must_lower:
                lower = functools.partial(phases.lower, quiet=error is not None)
                await _AwaitedAction(lower).run_on(phases.line)
        except BaseException as interrupt:
            phases.gate.time.call_soon(phases.look_again)
            if token is not None:
                # As in a plain inference.
                token = None
                clear_frames(interrupt)
            # The collector, which closes a coroutine that waits here, may come where this thread must take no lock.
            if not isinstance(interrupt, GeneratorExit):
                phases.look_again()
            raise

    def end_soon(self) -> None:
        """End the inference on another thread, without waiting and without a lock, unless it has ended.

        One that is dropped is ended without this, when it is collected: its token is.
        """
        if (token := self.take()) is not None:
            self._phases.end_inference_soon(token)

    @property
    def running(self) -> bool:
        """Whether it has begun, or waits for its votes, and has not ended."""
        return bool(self._held)

    def _end(self) -> None:
        if (token := self.take()) is not None:
            self._phases.end_inference(token)

    def take(self) -> Token | None:
        """Return the token of an inference that runs, to be ended by the caller: it ends with that."""
        try:
            return self._held.pop()
        except IndexError:
            return None


class _AwaitedAction:
    """An action on another thread, and the coroutine that waits for it. It is carried out even if nobody waits.

    It runs in a copy of the coroutine's context, as with ``asyncio.to_thread``: subscribers may ask for that.

    Args:
        action: what may wait for a native call; left out where nobody waits any more before it begins.
        unheard: called where the loop was closed, so that nobody hears of the end.
    """

    __slots__ = ("_action", "_answer", "_context", "_error", "_loop", "_unheard", "_waited_for")

    def __init__(self, action: Callable[[], object], unheard: Callable[[], object] | None = None) -> None:
        import asyncio  # noqa: PLC0415 - a host without coroutines doesn't pay for it

        # None once it was run: whoever may run this again keeps nothing alive.
        self._action: Callable[[], object] | None = action
        self._context = contextvars.copy_context()
        self._unheard = unheard
        self._error: BaseException | None = None
        self._waited_for = True
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[None] = self._loop.create_future()

    async def run_on(self, line: WaitingLine) -> None:
        """Run the action, wait for it, and raise what it raises."""
        line.post(self._run)
        try:
            await self._answer
        except BaseException:
            self._waited_for = False
            raise
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                # Its traceback holds this frame.
                del error

    def _run(self) -> None:
        if not self._waited_for or self._action is None:
            return
        try:
            self._context.run(self._action)
        except BaseException as error:
            # Raised in the coroutine. Nobody waits there any more for what comes from outside, where it is cancelled.
            self._error = error
            if not isinstance(error, Exception):
                raise
        finally:
            # What an interrupt has left is run again.
            self._waited_for, self._action = False, None
            self._answer_soon()

    def _answer_soon(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # A loop that was closed resumes nobody, and the coroutine may be kept for as long as its host likes.
            if self._unheard is not None:
                self._unheard()

    def _deliver(self) -> None:
        if not self._answer.done():
            self._answer.set_result(None)

"""An inference of a coroutine: as ``blocks.Inference``, but the worker makes the native calls, and they are awaited.

Inside a sustain window entering and leaving never suspend: they take the gate, and count.
"""

from __future__ import annotations

import contextvars
import functools
from typing import TYPE_CHECKING

from htppower.control.core.line import Urgency
from htppower.control.phases.blocks import NO_BEGIN, clear_frames
from htppower.errors import PhaseMisuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.core.tokens import Token
    from htppower.control.phases.blocks import Phases
    from htppower.errors import VoteRejected


class AsyncInference:
    """The asynchronous context manager of one inference. Made by ``Session.ainference``.

    A coroutine that is cancelled before the votes are in force has not begun its inference: a raise that is under way
    goes on and is lowered after it; one that still waits is left out. If the loop is closed during the raise, it is
    lowered after it, too. A coroutine that is dropped with its inference ends it when it is collected.
    """

    __slots__ = ("_held", "_phases")

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        # The token while it runs; who pops it ends the inference: the coroutine, or the worker that finds the loop
        # closed.
        self._held: list[Token] = []

    async def __aenter__(self) -> None:
        if self._held:
            raise PhaseMisuse("this inference is being run: call ainference() for each")
        phases, token, held = self._phases, None, False
        gate = phases.gate
        try:
            try:
                token = gate.tokens.idle.pop()
            except IndexError:
                token = gate.token()
            if gate.learning is not None:
                token.begun_ns = gate.time.now_ns()
                token.within = gate.tokens.preparing
            self._held.append(token)
            held = True
            if gate.open:
                return
            begin = functools.partial(phases.begin_on_worker, phases.waits(token))
            await _Awaited(begin, unheard=self._end).run(phases, Urgency.RAISE)
        except BaseException as error:
            gate.time.call_soon(phases.look_again)
            # Once it is held, whoever has taken it has ended it.
            taken = self.take() or (None if held else token)
            if taken is not None:
                try:
                    if isinstance(error, GeneratorExit):
                        phases.soon(phases.drop_inference, taken)
                    else:
                        phases.drop_inference(taken)
                except BaseException as interrupt:
                    # As in a plain inference: a token that was not dropped is counted when nothing refers to it.
                    del taken, token
                    clear_frames(error)
                    clear_frames(interrupt)
                    raise
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        token = self.take()
        if token is None:
            raise PhaseMisuse(NO_BEGIN)
        phases = self._phases
        if kind is GeneratorExit:
            phases.soon(phases.end_inference, token)
            return
        try:
            must_lower = phases.gate.end(token)
            # It is another's now, and the traceback of a call that fails must not refer to it.
            token = None
            if must_lower:
                await _Awaited(phases.lower_on_worker).run(phases, Urgency.LOWER, quiet=error is not None)
        except BaseException as interrupt:
            phases.gate.time.call_soon(phases.look_again)
            if token is not None:
                # As in a plain inference.
                token = None
                clear_frames(interrupt)
            raise

    def end_soon(self) -> None:
        """End the inference soon, without waiting and without a lock, unless it has ended.

        One that is dropped is ended without this, when it is collected: its token is.
        """
        if (token := self.take()) is not None:
            self._phases.soon(self._phases.end_inference, token)

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


class _Awaited:
    """A step that the worker runs, and the coroutine that waits for it.

    It runs in a copy of the coroutine's context, as with ``asyncio.to_thread``: subscribers may ask for that.

    Args:
        step: left out if nobody waits any more before it begins.
        unheard: called if the loop was closed, so that nobody hears of the end.
    """

    __slots__ = ("_answer", "_context", "_loop", "_step", "_unheard", "_waited_for")

    def __init__(self, step: Callable[[], VoteRejected | None], unheard: Callable[[], object] | None = None) -> None:
        import asyncio  # noqa: PLC0415 - a host without coroutines doesn't pay for it

        self._step: Callable[[], VoteRejected | None] | None = step
        self._context = contextvars.copy_context()
        self._unheard = unheard
        self._waited_for = True
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[None] = self._loop.create_future()

    async def run(self, phases: Phases, urgency: Urgency, *, quiet: bool = False) -> None:
        """Have the step run, wait for it, and raise what the session raises of it."""
        request = phases.home.engine.submit(self._run, urgency, self._ended)
        try:
            await self._answer
        except BaseException:
            self._waited_for = False
            raise
        phases.after_step(request.value(), begins=urgency is Urgency.RAISE, quiet=quiet)

    def _run(self) -> VoteRejected | None:
        step, self._step = self._step, None
        return self._context.run(step) if self._waited_for and step is not None else None

    def _ended(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # A loop that was closed resumes nobody, and the coroutine may be kept for as long as its host likes.
            if self._unheard is not None:
                self._unheard()

    def _deliver(self) -> None:
        if not self._answer.done():
            self._answer.set_result(None)

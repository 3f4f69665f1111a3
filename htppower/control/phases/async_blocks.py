"""An inference of a coroutine: like ``blocks.Inference``, but the coroutine awaits the worker's native calls.

Inside the sustain time neither entering nor leaving suspends the coroutine: both only use the session's gate.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any

from htppower.control.core.line import Urgency
from htppower.control.phases.blocks import NO_BEGIN
from htppower.errors import PhaseMisuse
from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.core.engine import Engine
    from htppower.control.gate.tokens import Token
    from htppower.control.phases.blocks import Phases
    from htppower.errors import VoteRejected


class AsyncInference:
    """The asynchronous context manager of one inference. Made by ``Session.ainference``.

    If a coroutine is cancelled before the votes are in force, its inference has not begun: a raise that runs is
    completed and the votes are lowered after it, and a raise that waits is dropped. The votes are also lowered if the
    loop is closed during the raise. If a coroutine is dropped within its inference, the inference ends when the
    coroutine is garbage collected.
    """

    __slots__ = ("_held", "_phases")

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        # Has the token while the inference runs. The code that pops the token ends the inference: the coroutine, an
        # idle timeout, or the worker if it finds the loop closed.
        self._held: list[Token] = []

    async def __aenter__(self) -> None:
        if not self.begin():
            await self.raised()

    def begin(self) -> bool:
        """Begin the inference without waiting; return whether its votes are in force. If not, await ``raised``."""
        if self._held:
            raise PhaseMisuse("this inference is being run: call ainference() for each")
        gate = self._phases.gate
        try:
            try:
                token = gate.tokens.idle.pop()
            except IndexError:
                token = gate.token()
            self._held.append(token)
            if gate.learning is not None:
                token.begun_ns = gate.time.now_ns()
                token.within = gate.tokens.preparing
                if gate.cpu is not None:
                    gate.hold_cpu(gate.cpu)
        except BaseException:
            self._phases.not_begun(self.take())
            raise
        return gate.open

    async def raised(self, if_closed: Callable[[], object] | None = None) -> None:
        """Wait until the votes of the inference are in force; if that fails, the inference has not begun.

        ``if_closed``: called instead of ``end`` if the event loop is closed by then.
        """
        phases, held = self._phases, tuple(self._held)
        if not held:
            return  # it has ended
        try:
            waits = phases.waits(held[0])
            await self._settled(Cause.INFERENCE_BEGAN, waits=waits, if_closed=if_closed)
        except BaseException as error:
            taken = self.take()
            if isinstance(error, GeneratorExit):
                phases.soon(phases.not_begun, taken)
            else:
                phases.not_begun(taken)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        phases, token = self._phases, self.take()
        if token is None:
            raise PhaseMisuse(NO_BEGIN)
        try:
            if kind is GeneratorExit:
                phases.soon(phases.end_inference, token)
                return
            must_lower = phases.gate.end(token)
            # The token is idle from here on, and another inference may take it. So it must not be ended again, as in
            # ``Inference.__exit__``.
            token = None
            if must_lower:
                await self._settled(Cause.INFERENCE_ENDED, quiet=error is not None)
        except BaseException as interrupt:
            token = None
            phases.cut_off(interrupt)
            raise

    def end(self) -> bool:
        """End the inference, without raising or waiting; return False if it has ended already."""
        token = self.take()
        if token is not None:
            self._phases.end_inference(token)
        return token is not None

    @property
    def running(self) -> bool:
        """Whether the inference waits for its votes, or has begun and not ended."""
        return bool(self._held)

    def take(self) -> Token | None:
        """Take the token of the inference, and return it; None if it does not run. The caller ends the inference."""
        try:
            return self._held.pop()
        except IndexError:
            return None

    async def _settled(
        self,
        cause: Cause,
        *,
        waits: int | None = None,
        quiet: bool = False,
        if_closed: Callable[[], object] | None = None,
    ) -> None:
        """Let the worker settle the session, await it, and raise the errors of the phase."""
        phases, begins = self._phases, cause is Cause.INFERENCE_BEGAN

        def step() -> VoteRejected | None:
            return phases.home.reconciler.settle_for(phases.session, cause, Phase.INFERENCE, waits)

        # A closed loop resumes no coroutine, and the host may keep the coroutine alive for long. So the worker ends the
        # inference.
        urgency = Urgency.RAISE if begins else Urgency.LOWER
        error = await awaited(phases.home.engine, step, urgency, if_closed=if_closed or self.end)
        phases.home.after_settling(phases.session, error, begins=begins, quiet=quiet)


async def awaited(
    engine: Engine, action: Callable[[], Any], urgency: Urgency, if_closed: Callable[[], object] | None = None
) -> Any:
    """Let the worker run a step with the line, and await its result.

    The step runs in a copy of the coroutine's context, as with ``asyncio.to_thread``; subscribers may need it. If the
    coroutine is cancelled while the step waits for the line, the step does nothing.

    Args:
        engine: has the line and the worker.
        action: the step.
        urgency: its place in the line.
        if_closed: called by the worker after the step if the event loop is closed by then.
    """
    import asyncio  # noqa: PLC0415 - a host without coroutines doesn't need it

    context, loop, left = contextvars.copy_context(), asyncio.get_running_loop(), False
    answer = loop.create_future()

    def step() -> Any:
        return None if left else context.run(action)

    def deliver() -> None:
        if not answer.done():
            answer.set_result(None)

    def ended() -> None:
        try:
            loop.call_soon_threadsafe(deliver)
        except RuntimeError:
            if if_closed is not None:
                if_closed()

    request = engine.submit(step, urgency, ended)
    try:
        await answer
    finally:
        left = True
    return request.value()

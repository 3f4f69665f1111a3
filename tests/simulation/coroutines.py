"""An event loop on a task. Coroutines infer there, and are cancelled at odd moments."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from simulation.locks import SimpleQueue

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.program import Op
    from simulation.specification import Specification


class Loop:
    """The methods of an event loop that futures and tasks need."""

    def __init__(self, specification: Specification, phases: Phases) -> None:
        self._scheduler = specification.situation.scheduler
        self._specification = specification
        self._phases = phases
        self._due = SimpleQueue(self._scheduler)
        self._started = False
        self._as_loop = cast("asyncio.AbstractEventLoop", self)

    def infer(self, client: Client, op: Op) -> None:
        """Let a coroutine infer; it is cancelled after a while."""
        if not self._started:
            self._started = True
            self._scheduler.spawn("loop", self._work, daemon=True)
        self._due.put(lambda: self._begin(client, op))
        self._scheduler.sleep(op.us)

    def get_debug(self) -> bool:
        """Return False."""
        return False

    is_closed = get_debug

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self._as_loop)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        """Call a function on the loop's task."""
        run = callback if context is None else context.run
        arguments = args if context is None else (callback, *args)
        self._due.put(lambda: run(*arguments))

    call_soon_threadsafe = call_soon

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Raise an exception that no coroutine has handled, unless the run has ended and left its tasks."""
        if not self._scheduler.over:
            raise RuntimeError(f"the loop was told of {context}")

    def _work(self) -> None:
        while True:
            action = self._due.get()
            asyncio._set_running_loop(self._as_loop)
            try:
                action()
            finally:
                asyncio._set_running_loop(None)
                # A waiting task must not keep alive what it ran.
                del action

    def _begin(self, client: Client, op: Op) -> None:
        task = asyncio.Task(self._infer(client, op), loop=self._as_loop)
        self._scheduler.call_at(self._scheduler.now_us + op.steps, lambda: self._due.put(task.cancel))

    async def _infer(self, client: Client, op: Op) -> None:
        inference = client.session.ainference()
        client.begins()
        client.asked += 1
        try:
            await inference.__aenter__()
        except (asyncio.CancelledError, htppower.VoteRejected, htppower.SessionClosed):
            # A raise that is under way continues, and is lowered after it.
            client.endings.append(lambda: self._phases.end_done(client, "infer"))
            return
        client.unsettled -= 1
        client.inferences += 1
        self._specification.begun(client)
        try:
            future = self.create_future()
            self._scheduler.call_at(self._scheduler.now_us + op.us, lambda: self._due.put(lambda: _set(future)))
            await future
        except asyncio.CancelledError:
            pass
        client.must_until_us = 0
        client.unsettled += 1
        client.inferences -= 1
        client.asked += 1
        try:
            await inference.__aexit__(None, None, None)
        except (asyncio.CancelledError, htppower.VoteRejected):
            pass
        finally:
            self._phases.end_done(client, "infer")


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)

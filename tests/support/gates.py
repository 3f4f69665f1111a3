"""A controller over a backend of which the calls wait until they are let through, and coroutines that wait for it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Literal

from htppower import State, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.time.workers import ThreadWorker
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session
    from htppower.votes.vote_set import VoteSet

LONG_S = 30


class Gated(RecordingBackend):
    """Its setPowerConfig says that it was reached, and waits while the gate is shut."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__(SimulatedHtp(arch=75), time=time)
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.opened.set()
        self.threads: set[str] = set()

    def shut(self) -> None:
        """Let no call through from now on."""
        self.reached.clear()
        self.opened.clear()

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Wait, and set."""
        self.threads.add(threading.current_thread().name)
        self.reached.set()
        assert self.opened.wait(LONG_S)
        super().set_power_config(power_config_id, votes)


class Gate:
    """A controller over such a backend, in virtual time."""

    def __init__(self, on_error: Literal["continue", "raise"] = "continue") -> None:
        self.time = VirtualTime()
        self.backend = Gated(self.time)
        self.controller = VoteController(self.backend, time=self.time, handle_sigterm=False, on_error=on_error)
        self.posts = 0
        # Virtual time, but with a thread on which what waits for a call runs.
        worker = ThreadWorker("gate")
        self.post = worker.post

        def counted(action: Callable[[], object], *, may_wait: bool = False) -> None:
            self.posts += 1
            self.post(action)

        self.time.spawn = counted  # type: ignore[method-assign]

    @property
    def sets(self) -> int:
        """How many setPowerConfig calls have been let through."""
        return sum(call.function == "setPowerConfig" for call in self.backend.calls)

    def drain(self) -> None:
        """Wait for what was posted, and run what is to run soon."""
        done = threading.Event()
        self.post(done.set)
        assert done.wait(LONG_S)
        self.time.advance_us(0)

    def assert_down(self, session: Session) -> None:
        """Assert that nothing is in flight and the votes are down, once what is on its way is done."""
        self.drain()
        assert (session.in_flight, session.state) == (0, State.LOWERED)

    def close(self) -> None:
        """Close the controller, and assert that it leaves nothing behind."""
        self.controller.close()
        assert isinstance(self.backend.inner, SimulatedHtp)
        assert self.backend.inner.power_config_ids == ()


async def infer(session: Session) -> None:
    """Run one inference that lets the others run, too."""
    async with session.ainference():
        assert session.state is State.RAISED
        await asyncio.sleep(0)


async def until(holds: Callable[[], object]) -> None:
    """Let the loop run until something holds: it does only where the loop is not blocked."""

    async def turn() -> None:
        while not holds():  # noqa: ASYNC110 - what is waited for happens on another thread
            await asyncio.sleep(0)

    await asyncio.wait_for(turn(), LONG_S)


async def cancelled(task: asyncio.Task[Any]) -> bool:
    """Cancel a task, and return whether it ended by that."""
    task.cancel()
    await asyncio.wait([task], timeout=LONG_S)
    return task.cancelled()

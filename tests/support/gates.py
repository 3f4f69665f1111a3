"""A controller over a backend whose calls wait for permission, and coroutines that wait for the controller."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Literal

from support.inside import drain, has_callbacks, run_on_the_worker

from htppower import State, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.time.workers import ThreadWorker
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session
    from htppower.control.time.workers import Worker
    from htppower.votes.vote_set import VoteSet

LONG_S = 30
VOTES_THREAD = "htppower-votes"


class ThreadedTime(VirtualTime):
    """Virtual time, but the engine's worker has its own thread, as in real time."""

    def __init__(self) -> None:
        super().__init__()
        self.posts = 0

    def worker(self, name: str) -> Worker:
        """Return a thread for the engine; subscribers are called at once."""
        if name != VOTES_THREAD:
            return super().worker(name)
        made = ThreadWorker(name)
        post = made.post

        def counted(action: Callable[[], object]) -> None:
            self.posts += 1
            post(action)

        made.post = counted  # type: ignore[method-assign]
        return made


class Gated(RecordingBackend):
    """A backend whose calls with votes of an id report their begin, and wait while the gate is shut."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__(SimulatedHtp(arch=75), time=time)
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.opened.set()
        self.threads: set[str] = set()

    def shut(self) -> None:
        """Shut the gate for later calls."""
        self.reached.clear()
        self.opened.clear()

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Wait, and set."""
        self.threads.add(threading.current_thread().name)
        if votes.dcvs_v3 is not None:
            self.reached.set()
            assert self.opened.wait(LONG_S)
        super().set_power_config(power_config_id, votes)


class Gate:
    """A controller over such a backend, with time driven by hand."""

    def __init__(self, on_error: Literal["continue", "raise"] = "continue") -> None:
        self.time = ThreadedTime()
        self.backend = Gated(self.time)
        self.controller = VoteController(self.backend, time=self.time, handle_sigterm=False, on_error=on_error)

    @property
    def posts(self) -> int:
        """How many steps the worker has received."""
        return self.time.posts

    @property
    def sets(self) -> int:
        """How many calls with votes of an id have passed."""
        return sum(call.config("DCVS_V3") is not None for call in self.backend.calls)

    def post(self, action: Callable[[], object]) -> None:
        """Let the worker run an action that holds the line."""
        run_on_the_worker(self.controller, action)

    def drain(self) -> None:
        """Wait for the requested steps, and for the callbacks that they schedule."""
        self._wait()
        while has_callbacks(self.time):
            self.time.advance_us(0)
            self._wait()

    def _wait(self) -> None:
        assert drain(self.controller)

    def assert_down(self, session: Session) -> None:
        """Wait for pending steps, and assert that nothing is in flight and the votes are down."""
        self.drain()
        assert (session.in_flight, session.state) == (0, State.LOWERED)

    def close(self) -> None:
        """Close the controller, and assert that nothing is left."""
        self.controller.close()
        assert isinstance(self.backend.inner, SimulatedHtp)
        assert self.backend.inner.power_config_ids == ()


async def infer(session: Session) -> None:
    """Run one inference that yields to the other tasks."""
    async with session.ainference():
        assert session.state is State.RAISED
        await asyncio.sleep(0)


async def until(holds: Callable[[], object]) -> None:
    """Let the loop run until something holds; this needs a loop that is not blocked."""

    async def turn() -> None:
        while not holds():  # noqa: ASYNC110 - what is waited for happens on another thread
            await asyncio.sleep(0)

    await asyncio.wait_for(turn(), LONG_S)


async def cancelled(task: asyncio.Task[Any]) -> bool:
    """Cancel a task, and return whether it was cancelled."""
    task.cancel()
    await asyncio.wait([task], timeout=LONG_S)
    return task.cancelled()

"""Closes sessions and controllers, also twice, by two threads, with an interrupt, and while another session opens."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.public_calls import PublicCalls
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


class Closings:
    """Closes something, and returns when every thread that closes it has returned.

    Args:
        scheduler: whose tasks the threads are.
        public: calls the public API.
    """

    def __init__(self, scheduler: Scheduler, public: PublicCalls) -> None:
        self._scheduler = scheduler
        self._public = public

    def close(
        self, client: Client | None, close: Callable[[], object], *, threads: int = 1, interrupt: int = 0
    ) -> None:
        """Close a session, or with None a controller, by so many threads; once more where there are several."""
        others = [
            self._scheduler.spawn(f"closes {number}", functools.partial(self._close, client, close))
            for number in range(1, threads)
        ]
        self._close(client, close, interrupt)
        self.join(others)
        if others:
            self._close(client, close)

    def join(self, tasks: list[Task]) -> None:
        """Wait for the end of tasks."""
        for task in tasks:
            if not task.done:
                task.waiters.append(self._scheduler.current)
                self._scheduler.block(f"the end of {task}")

    def _close(self, client: Client | None, close: Callable[[], Any], interrupt: int = 0) -> None:
        while isinstance(self._public.call("close", client, close, interrupt), KeyboardInterrupt):
            interrupt = 0

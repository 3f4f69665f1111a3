"""Locks and queues of the simulation, in the place of those of ``_thread`` and ``queue``.

Taking a lock is a point. A waiting task gets a lock that is given back only if no other takes it before.
"""

from __future__ import annotations

import queue
from collections import deque
from typing import TYPE_CHECKING, Any

from simulation.scheduler import Violation

if TYPE_CHECKING:
    from simulation.scheduler import Scheduler, Task


class Lock:
    """A lock, reentrant or not. One that is not may be given back by another task than took it.

    Args:
        scheduler: whose tasks take it.
        name: what the trace calls it.
        reentrant: whether its owner may take it again.
    """

    def __init__(self, scheduler: Scheduler, name: str, *, reentrant: bool = False) -> None:
        self._scheduler = scheduler
        self._name = name
        self._reentrant = reentrant
        self._depth = 0
        self._fresh = not reentrant
        self._waiters: list[Task] = []
        self.owner: Task | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; return False if it could not be had."""
        scheduler = self._scheduler
        if scheduler.over:
            return True
        task = scheduler.current
        if self._reentrant and self.owner is task:
            self._depth += 1
            return True
        if self._fresh:
            # It is taken as it is made, before another task knows of it.
            self._fresh = False
        else:
            scheduler.point()
        if scheduler.collecting:
            scheduler.fail(Violation("a finalizer takes no lock", f"{task} takes {self}"))
        end_us = None if timeout < 0 else scheduler.now_us + round(timeout * 1_000_000)
        while self.owner is not None:
            left_us = None if end_us is None else end_us - scheduler.now_us
            if not blocking or (left_us is not None and left_us <= 0):
                return False
            self._waiters.append(task)
            try:
                scheduler.block(self, left_us)
            finally:
                if task in self._waiters:
                    self._waiters.remove(task)
        self.owner = task
        self._depth = 1
        if self._reentrant:
            task.held.append(self)
        return True

    def release(self) -> None:
        """Give it back, once for each time that it was taken."""
        scheduler = self._scheduler
        if scheduler.over:
            return
        if self.owner is None or (self._reentrant and self.owner is not scheduler.current):
            raise RuntimeError(f"{self} is given back by {scheduler.current}, and held by {self.owner}")
        self._depth -= 1
        if self._depth:
            return
        if self in self.owner.held:
            self.owner.held.remove(self)
        self.owner = None
        for waiter in self._waiters:
            scheduler.wake(waiter)
        self._waiters.clear()

    def locked(self) -> bool:
        """Return whether a task holds it."""
        return self.owner is not None

    def _is_owned(self) -> bool:
        return self.owner is self._scheduler.current

    def __enter__(self) -> bool:
        taken = self.acquire()
        if not self._reentrant and self.owner is not None:
            # What is taken without ``with`` is given back by another task.
            self.owner.held.append(self)
        return taken

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        """Return its name."""
        return self._name


class SimpleQueue:
    """A queue without bounds. Putting takes no lock and is no point, so a finalizer may."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._items: deque[Any] = deque()
        self._waiters: deque[Task] = deque()

    def put(self, item: Any, _ignored: object = None, /) -> None:
        """Put an item in."""
        self._items.append(item)
        if self._waiters:
            self._scheduler.wake(self._waiters.popleft())

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the item that was put in first; wait for one if there is none."""
        scheduler = self._scheduler
        scheduler.point()
        task = scheduler.current
        while not self._items:
            if not block:
                raise queue.Empty
            self._waiters.append(task)
            try:
                in_time = scheduler.block(self, None if timeout is None else round(timeout * 1_000_000))
            finally:
                if task in self._waiters:
                    self._waiters.remove(task)
            if not in_time and not self._items:
                raise queue.Empty
        return self._items.popleft()

    def qsize(self) -> int:
        """Return how many items are in it."""
        return len(self._items)

    def empty(self) -> bool:
        """Return whether there is none."""
        return not self._items

    def __repr__(self) -> str:
        """Return what it is."""
        return "a queue"

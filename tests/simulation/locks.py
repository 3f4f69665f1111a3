"""Locks and queues of the simulation, in the place of those of ``_thread`` and ``queue``.

Taking a lock is a point. A waiting task gets a released lock only if no other task takes it first. Two kinds of wait
are not points, because an order that switches there equals an order that switches later, or that costs a preemption
less. One is to wait for another task by a lock that only that task releases, which is ``acquire`` without ``with``. The
other is to take an item from an empty queue.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from simulation.tasks import Violation

if TYPE_CHECKING:
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


class Lock:
    """A lock. If it is not reentrant, another task than its owner may release it."""

    def __init__(self, scheduler: Scheduler, name: str, *, reentrant: bool = False) -> None:
        self._scheduler = scheduler
        self._name = name
        self._reentrant = reentrant
        self._depth = 0
        self._waiters: list[Task] = []
        self.owner: Task | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; return whether that was possible."""
        scheduler = self._scheduler
        if scheduler.over:
            return True
        task = scheduler.current
        if self._reentrant and self.owner is task:
            self._depth += 1
            return True
        if self._reentrant:
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
        """Release the lock, once for each time that it was taken."""
        scheduler = self._scheduler
        if scheduler.over:
            return
        if self.owner is None or (self._reentrant and self.owner is not scheduler.current):
            raise RuntimeError(f"{self} is released by {scheduler.current}, and held by {self.owner}")
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
        """Return whether a task holds the lock."""
        return self.owner is not None

    def _is_owned(self) -> bool:
        return self.owner is self._scheduler.current

    def __enter__(self) -> bool:
        if not self._reentrant:
            self._scheduler.point()
        taken = self.acquire()
        if not self._reentrant and self.owner is not None:
            # A lock that is taken without ``with`` is released by another task, so no task holds it.
            self.owner.held.append(self)
        return taken

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return self._name


class SimpleQueue:
    """A queue without bounds. ``put`` takes no lock and is not a point, so a finalizer may call it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._items: deque[Any] = deque()
        self._waiters: deque[Task] = deque()

    def put(self, item: Any, _ignored: object = None, /) -> None:
        """Add an item."""
        self._items.append(item)
        if self._waiters:
            self._scheduler.wake(self._waiters.popleft())

    def get(self) -> Any:
        """Remove and return the oldest item; wait while there is none."""
        if self._items:
            self._scheduler.point()
        while not self._items:
            self._waiters.append(self._scheduler.current)
            self._scheduler.block(self)
        return self._items.popleft()

    def qsize(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def __repr__(self) -> str:
        return "a queue"

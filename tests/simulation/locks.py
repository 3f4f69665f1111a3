"""Locks, conditions, events and queues of the simulation: taking one and giving it back are points.

They do what those of ``threading`` and ``queue`` do, unfair as these are: who waits for a lock that is given back gets
it only if nobody else takes it before.
"""

from __future__ import annotations

import queue
from collections import deque
from typing import TYPE_CHECKING, Any

from simulation.tasks import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


# Locks of this rank, and above, put events into their order, on which no vote depends.
EVENTS_RANK = 8


def _in_us(timeout_s: float | None) -> int | None:
    return None if timeout_s is None or timeout_s < 0 else round(timeout_s * 1_000_000)


class Lock:
    """A lock, reentrant or not.

    Args:
        scheduler: whose tasks take it.
        name: what the trace calls it.
        reentrant: whether whoever holds it may take it again.
        rank: where it stands in the order of locks, the outermost lowest; None where it has no place in it.
    """

    def __init__(self, scheduler: Scheduler, name: str, *, reentrant: bool = False, rank: int | None = None) -> None:
        self._scheduler = scheduler
        self._name = name
        self._reentrant = reentrant
        self._depth = 0
        self._waiters: list[Task] = []
        self.rank = rank
        self.owner: Task | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; return False where it could not be had."""
        scheduler = self._scheduler
        if scheduler.over:
            return True
        task = scheduler.current
        self._be_point(task)
        if self.owner is task:
            if self._reentrant:
                self._depth += 1
                return True
            if blocking and timeout < 0:
                scheduler.fail(Violation("no deadlock", f"{task} takes {self}, which it holds"))
        elif self.rank is not None:
            self._check_order(task)
        end_us = None if timeout < 0 else scheduler.now_us + (_in_us(timeout) or 0)
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
        self.owner.held.remove(self)
        self.owner = None
        for waiter in self._waiters:
            scheduler.wake(waiter)
        self._waiters.clear()
        if not scheduler.coarse:
            scheduler.point()

    def locked(self) -> bool:
        """Return whether somebody holds it."""
        return self.owner is not None

    def _is_owned(self) -> bool:
        """Return whether the task that runs holds it."""
        return self.owner is self._scheduler.current

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        """Return its name."""
        return self._name

    def _be_point(self, task: Task) -> None:
        """Be a point; with coarse steps, only where another task's steps may depend on when it is taken."""
        scheduler = self._scheduler
        only_events = self.rank is not None and self.rank >= EVENTS_RANK and self.owner is None
        if not scheduler.coarse or not (only_events or self.owner is task):
            scheduler.point()
        if scheduler.collecting:
            scheduler.fail(Violation("nothing that the collector runs takes a lock", f"{task} takes {self}"))

    def _check_order(self, task: Task) -> None:
        for held in task.held:
            rank = getattr(held, "rank", None)
            if rank is not None and self.rank is not None and rank >= self.rank:
                self._scheduler.fail(Violation("locks are taken in their order", f"{task} takes {self} under {held}"))


class Condition:
    """A condition on a lock."""

    def __init__(self, scheduler: Scheduler, lock: Lock | None = None) -> None:
        self._scheduler = scheduler
        self._lock = lock or Lock(scheduler, "a condition's lock", reentrant=True)
        self._waiters: deque[Task] = deque()
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    def wait(self, timeout: float | None = None) -> bool:
        """Give the lock back, wait to be notified, take the lock again; return whether it was notified."""
        scheduler, lock = self._scheduler, self._lock
        task, depth = scheduler.current, lock._depth
        self._waiters.append(task)
        lock._depth = 1
        lock.release()
        try:
            notified = task not in self._waiters or scheduler.block(self, _in_us(timeout))
        finally:
            if task in self._waiters:
                self._waiters.remove(task)
            lock.acquire()
            lock._depth = depth
        return notified

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """Wait until the predicate holds; return what it says last."""
        limit_us = _in_us(timeout)
        end_us = None if limit_us is None else self._scheduler.now_us + limit_us
        while not (found := predicate()):
            left_us = None if end_us is None else end_us - self._scheduler.now_us
            if left_us is not None and left_us <= 0:
                break
            self.wait(None if left_us is None else left_us / 1_000_000)
        return found

    def notify(self, n: int = 1) -> None:
        """Let some of those that wait go on, once they have the lock."""
        for _ in range(min(n, len(self._waiters))):
            self._scheduler.wake(self._waiters.popleft())

    def notify_all(self) -> None:
        """Let all of those that wait go on, once they have the lock."""
        self.notify(len(self._waiters))

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __repr__(self) -> str:
        """Return what it is."""
        return "a condition"


class Event:
    """A flag that tasks wait for."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._flag = False
        self._waiters: list[Task] = []

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._flag

    def set(self) -> None:
        """Set it; whoever waits goes on."""
        self._scheduler.point()
        self._flag = True
        for waiter in self._waiters:
            self._scheduler.wake(waiter)
        self._waiters.clear()

    def clear(self) -> None:
        """Take it back."""
        self._scheduler.point()
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set; return whether it is."""
        scheduler = self._scheduler
        scheduler.point()
        limit_us = _in_us(timeout)
        end_us = None if limit_us is None else scheduler.now_us + limit_us
        while not self._flag:
            left_us = None if end_us is None else end_us - scheduler.now_us
            if left_us is not None and left_us <= 0:
                break
            task = scheduler.current
            self._waiters.append(task)
            try:
                scheduler.block(self, left_us)
            finally:
                if task in self._waiters:
                    self._waiters.remove(task)
        return self._flag

    def __repr__(self) -> str:
        """Return what it is."""
        return "an event"


class SimpleQueue:
    """A queue without bounds. Putting takes no lock, so that the collector may."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._items: deque[Any] = deque()
        self._waiters: deque[Task] = deque()

    def put(self, item: Any, block: bool = True, timeout: float | None = None, *, interrupts: bool = True) -> None:
        """Put an item in."""
        self._items.append(item)
        if self._waiters:
            self._scheduler.wake(self._waiters.popleft())
        if not self._scheduler.coarse:
            self._scheduler.point(interrupts=interrupts)

    put_nowait = put

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the item that was put in first; wait for one where there is none."""
        scheduler = self._scheduler
        scheduler.point()
        task = scheduler.current
        while not self._items:
            if not block:
                raise queue.Empty
            self._waiters.append(task)
            try:
                in_time = scheduler.block(self, _in_us(timeout))
            finally:
                if task in self._waiters:
                    self._waiters.remove(task)
            if not in_time and not self._items:
                raise queue.Empty
        return self._items.popleft()

    def get_nowait(self) -> Any:
        """Take the item that was put in first."""
        return self.get(block=False)

    def qsize(self) -> int:
        """Return how many items are in it."""
        return len(self._items)

    def empty(self) -> bool:
        """Return whether there is none."""
        return not self._items

    def __repr__(self) -> str:
        """Return what it is."""
        return "a queue"

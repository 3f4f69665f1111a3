"""Tasks, timers, locks, queues and the garbage collector of a scheduler, and the error that a broken rule raises.

Taking a lock is a point. A waiting task gets a released lock only if no other task takes it first. Two kinds of wait
are not points, because a switch there gives the same order as a later switch, or as an order with one preemption less.
The first kind is the wait for another task by a lock that only that task releases (``acquire`` without ``with``). The
second is the wait for an item of an empty queue.
"""

from __future__ import annotations

import gc
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import attrs
from greenlet import GreenletExit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulation.scheduler import Scheduler


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """A broken rule: a short text that is the same in every run, and the details of this run."""

    def __init__(self, rule: str, details: str) -> None:
        self.rule = rule
        self.details = details
        super().__init__(f"{rule}: {details}")


@attrs.define(eq=False, repr=False)
class Task:
    """A thread of the program under test.

    Attributes:
        number: newer tasks have higher numbers.
        daemon: whether the run ends without waiting for this task.
        main: whether the controller takes this task for the main thread.
        last: whether this task runs only if no other task can.
        waits_for: what the task waits for; None while it can run.
        waits_since: the first step of its last wait.
        held: the locks that the task holds.
        waiters: the tasks that wait for the end of this task.
    """

    name: str
    number: int
    daemon: bool = False
    main: bool = False
    last: bool = False
    greenlet: Any = None
    waits_for: object | None = None
    waits_since: int = 0
    held: list[object] = attrs.field(factory=list)
    done: bool = False
    waiters: list[Task] = attrs.field(factory=list)

    def __repr__(self) -> str:
        return self.name

    def end(self) -> None:
        """Unwind the task, and release its greenlet. While it unwinds, it may switch away several times."""
        for _ in range(100):
            if self.greenlet is None or self.greenlet.dead:
                break
            self.greenlet.throw(GreenletExit)
        self.greenlet = None


@attrs.define(eq=False)
class Timer:
    """An action that is called once, unless the timer is cleared before."""

    action: Callable[[], object] | None

    def clear(self) -> None:
        """Cancel the action."""
        self.action = None


def death(task: Task, error: BaseException) -> Violation:
    """Return the violation for a task that an error has ended. After an endless recursion, ``repr`` may fail, too."""
    try:
        details = f"{task}: {error!r}"
    except RecursionError:
        details = f"{task}: {type(error).__name__}"
    violation = Violation("no thread dies", details)
    violation.__cause__ = error
    return violation


class Collector:
    """Drops objects after some steps, in the running task; ``scheduler.collecting`` is set while it does."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._doomed: list[tuple[int, list[object], list[weakref.ref[object]]]] = []

    @property
    def waits(self) -> bool:
        """Whether an object is still to be dropped."""
        return bool(self._doomed)

    def add(self, at_step: int, thing: object, watched: Iterable[object]) -> None:
        """Drop an object at a step; the watched objects must then be gone, or after ``gc.collect``."""
        self._doomed.append((at_step, [thing], [weakref.ref(each) for each in watched]))

    def collect(self, up_to: int) -> None:
        """Drop the objects whose step has come."""
        if not self._doomed:
            return
        due = [doomed for doomed in self._doomed if doomed[0] <= up_to]
        self._doomed = [doomed for doomed in self._doomed if doomed[0] > up_to]
        scheduler = self._scheduler
        scheduler.collecting = True
        try:
            for _, things, watched in due:
                scheduler.note("collects")
                things.clear()
                if any(ref() is not None for ref in watched):
                    gc.collect()
                if any(ref() is not None for ref in watched):
                    scheduler.fail(Violation("nothing keeps alive what the host has dropped", f"{watched}"))
        finally:
            scheduler.collecting = False


class Collected:
    """Calls a function when it is garbage collected."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __del__(self) -> None:
        self._call()


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
            # A lock that is taken without ``with`` is released by another task, so no task counts as its holder.
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
        """Remove and return the oldest item; wait while the queue is empty."""
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

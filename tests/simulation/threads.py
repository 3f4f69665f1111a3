"""What stands in the place of the modules ``threading`` and ``queue``: threads are tasks of a scheduler."""

from __future__ import annotations

import itertools
import queue as real_queue
import threading as real_threading
import types
from functools import partial
from typing import TYPE_CHECKING, Any

from simulation.locks import Condition, Event, Lock, SimpleQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


class Thread:
    """A thread."""

    def __init__(
        self,
        scheduler: Scheduler,
        group: None = None,
        target: Callable[..., object] | None = None,
        name: str | None = None,
        args: Iterable[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._target = target
        self._args, self._kwargs = tuple(args), dict(kwargs or {})
        self._task: Task | None = None
        self.name = name or "a thread"
        # Every thread of ours is a daemon to the scheduler: the run ends with the host's own threads.
        self.daemon = bool(daemon)

    def start(self) -> None:
        """Start it."""
        if self._task is not None:
            raise RuntimeError("threads can only be started once")
        self._scheduler.point()
        self._task = self._scheduler.spawn(self.name, self.run, daemon=True)
        self._task.thread = self
        self._scheduler.point()

    def run(self) -> None:
        """Call the target."""
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        join(self._scheduler, self._task, None if timeout is None else round(timeout * 1_000_000))

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._task is not None and not self._task.done

    @property
    def ident(self) -> int | None:
        """Its number."""
        return None if self._task is None else self._task.number

    def __repr__(self) -> str:
        """Return its name."""
        return f"<thread {self.name}>"


def join(scheduler: Scheduler, task: Task | None, timeout_us: int | None) -> None:
    """Wait for the end of a task."""
    scheduler.point()
    if task is not None and not task.done:
        waiter = scheduler.current
        task.waiters.append(waiter)
        try:
            scheduler.block(f"the end of {task}", timeout_us)
        finally:
            task.waiters.remove(waiter)


class Local:
    """What each task has for itself."""

    def __init__(self, scheduler: Scheduler) -> None:
        object.__setattr__(self, "_scheduler", scheduler)
        object.__setattr__(self, "_of_task", {})

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__["_of_task"].get(self.__dict__["_scheduler"].current, {})
        if name not in own:
            raise AttributeError(name)
        return own[name]

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__["_of_task"].setdefault(self.__dict__["_scheduler"].current, {})[name] = value

    def __delattr__(self, name: str) -> None:
        del self.__dict__["_of_task"][self.__dict__["_scheduler"].current][name]


def fake_threading(scheduler: Scheduler) -> types.ModuleType:
    """Return what stands in the place of ``threading``; what it lacks fails with an AttributeError."""
    module = types.ModuleType("threading")
    numbers = itertools.count(1)
    module.__dict__.update(
        Lock=lambda: Lock(scheduler, f"lock {next(numbers)}"),
        RLock=lambda: Lock(scheduler, f"rlock {next(numbers)}", reentrant=True),
        Condition=partial(Condition, scheduler),
        Event=partial(Event, scheduler),
        Thread=partial(Thread, scheduler),
        local=partial(Local, scheduler),
        get_ident=lambda: scheduler.current.number,
        current_thread=lambda: scheduler.current.thread or scheduler.current,
        # No task is the main thread: signals are the scheduler's.
        main_thread=real_threading.main_thread,
    )
    return module


def fake_queue(scheduler: Scheduler) -> types.ModuleType:
    """Return what stands in the place of ``queue``."""
    module = types.ModuleType("queue")
    module.__dict__.update(SimpleQueue=partial(SimpleQueue, scheduler), Empty=real_queue.Empty, Full=real_queue.Full)
    return module

"""Time as the controller asks for it: a virtual clock, alarms and actions on tasks of a pool, workers."""

from __future__ import annotations

import itertools
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from simulation.locks import Event, SimpleQueue
from simulation.threads import join
from simulation.timers import Timer

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

_LOGGER = logging.getLogger("htppower")


class SimulatedWorker:
    """Runs actions one after the other on a task of its own, which starts with the first.

    Args:
        scheduler: whose task.
        name: the task's.
        carry_out: what runs an action; it is run there unless told.
    """

    inline = False

    def __init__(
        self, scheduler: Scheduler, name: str, carry_out: Callable[[Callable[[], object]], object] | None = None
    ) -> None:
        self._scheduler = scheduler
        self._name = name
        self._carry_out = carry_out or _run
        self._actions = SimpleQueue(scheduler)
        self._task: Task | None = None
        self._closed = False

    @property
    def pending(self) -> int:
        """How many actions wait to be run."""
        return self._actions.qsize()

    def start(self) -> None:
        """Start the task."""
        if self._task is None:
            self._task = self._scheduler.spawn(self._name, self._work, daemon=True, serves=True)

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon; nothing once it is closed."""
        self.start()
        if not self._closed:
            self._actions.put(action)

    def post_or_run(self, action: Callable[[], object]) -> None:
        """Run the action soon; at once once it is closed."""
        if self._closed:
            action()
        else:
            self.post(action)

    def post_unlocked(self, action: Callable[[], object], _ignored: object = None, /) -> None:
        """Run the action soon, where the task was started; no interrupt comes meanwhile, as it is C from end to end."""
        self._actions.put(action, interrupts=False)

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run; return whether it has within the time."""
        task = self._task
        if task is None or task is self._scheduler.current:
            return True
        if self._closed:
            join(self._scheduler, task, round(timeout_s * 1_000_000))
            return task.done
        done = Event(self._scheduler)
        self._actions.put(done.set)
        return done.wait(timeout_s)

    def close(self) -> None:
        """Run what was posted, then end."""
        self._closed = True
        self._actions.put(None)

    def _work(self) -> None:
        while (action := self._actions.get()) is not None:
            self._carry_out(action)
            del action


def _run(action: Callable[[], object]) -> None:
    try:
        action()
    except Exception:
        _LOGGER.exception("%r failed", action)


class SimulatedPool:
    """Runs actions side by side, each on a task of its own.

    Args:
        scheduler: whose tasks.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._numbers = itertools.count(1)

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon."""
        self._scheduler.spawn(f"pool {next(self._numbers)}", partial(_run, action), daemon=True, queued=True)
        self._scheduler.point()


class SimulatedTime:
    """A clock that the scheduler moves, with alarms and actions that run side by side, as the real ones do."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._pool = SimulatedPool(scheduler)
        self._soon = SimulatedWorker(scheduler, "soon", carry_out=self._pool.post)
        self._closed = False
        # As the real one, a function to which no exception can come: see ``post_unlocked``.
        self.call_soon = self._soon.post_unlocked

    @property
    def now_us(self) -> int:
        """The time."""
        return self._scheduler.now_us

    def now_ns(self) -> int:
        """Return the time."""
        return self._scheduler.now_us * 1000

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action on a task of the pool, at the deadline or soon after."""
        scheduler = self._scheduler
        scheduler.point()
        self._soon.start()
        if deadline_us <= scheduler.now_us:
            self._pool.post(action)
            return Timer(action)
        return scheduler.call_at(deadline_us, lambda: self._ring(action))

    def cancel(self, alarm: Any) -> None:
        """Take an alarm back; one that has begun to ring is left alone."""
        self._scheduler.point()
        alarm.clear()

    def start(self) -> None:
        """Start the task on which what is to run soon is handed on."""
        self._soon.start()

    def spawn(self, action: Callable[[], object], *, may_wait: bool = False) -> None:
        """Run the action soon, on a task of the pool."""
        self._pool.post(action)

    def worker(self, name: str) -> SimulatedWorker:
        """Return a worker with a task of its own."""
        return SimulatedWorker(self._scheduler, name)

    def sleep(self, duration_s: float) -> None:
        """Let time go by."""
        self._scheduler.sleep(round(duration_s * 1_000_000))

    def close(self) -> None:
        """Run no alarm from now on."""
        self._closed = True
        self._soon.close()

    def _ring(self, action: Callable[[], None]) -> None:
        if not self._closed:
            self._soon._actions.put(action)

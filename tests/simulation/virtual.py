"""Time as the controller asks for it: a virtual clock, alarms on a task of their own, workers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from simulation.locks import Event, SimpleQueue
from simulation.threads import join

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
    """

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        self._name = name
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
            self._task = self._scheduler.spawn(self._name, self._work, daemon=True)

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

    def post_unlocked(self, action: Callable[[], object]) -> None:
        """Run the action soon, where the task was started."""
        self._actions.put(action)

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
            try:
                action()
            except Exception:
                _LOGGER.exception("%r failed", action)
            del action


class SimulatedPool:
    """Runs actions side by side, each on a task of its own.

    Args:
        scheduler: whose tasks.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._tasks: list[Task] = []
        self._closed = False

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon; nothing once it is closed."""
        if not self._closed:
            self._tasks = [task for task in self._tasks if not task.done]
            self._tasks.append(self._scheduler.spawn(f"pool {len(self._tasks)}", action, daemon=True))
        self._scheduler.point()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run; return whether it has within the time."""
        end_us = self._scheduler.now_us + round(timeout_s * 1_000_000)
        for task in tuple(self._tasks):
            join(self._scheduler, task, max(0, end_us - self._scheduler.now_us))
        return all(task.done for task in self._tasks)

    def close(self) -> None:
        """Run what was posted, and nothing from then on."""
        self._closed = True


class SimulatedTime:
    """A clock that the scheduler moves, with alarms that run one after the other on one task, as the real ones do."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._alarms = SimulatedWorker(scheduler, "alarms")
        self._closed = False

    @property
    def now_us(self) -> int:
        """The time."""
        return self._scheduler.now_us

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action on the task of the alarms, at the deadline or soon after."""
        scheduler = self._scheduler
        scheduler.point()
        self._alarms.start()
        if deadline_us <= scheduler.now_us:
            self._alarms.post(action)
            return []
        return scheduler.call_at(deadline_us, lambda: self._ring(action))

    def cancel(self, alarm: Any) -> None:
        """Take an alarm back; one that has begun to ring is left alone."""
        self._scheduler.point()
        alarm.clear()

    def start(self) -> None:
        """Start the task of the alarms."""
        self._alarms.start()

    def call_soon(self, action: Callable[[], None]) -> None:
        """Run the action soon, on the task of the alarms; takes no lock."""
        self._alarms.post_unlocked(action)

    def worker(self, name: str) -> SimulatedWorker:
        """Return a worker with a task of its own."""
        return SimulatedWorker(self._scheduler, name)

    def pool(self) -> SimulatedPool:
        """Return what runs actions side by side."""
        return SimulatedPool(self._scheduler)

    def sleep(self, duration_s: float) -> None:
        """Let time go by."""
        self._scheduler.sleep(round(duration_s * 1_000_000))

    def close(self) -> None:
        """Run no alarm from now on."""
        self._closed = True
        self._alarms.close()

    def _ring(self, action: Callable[[], None]) -> None:
        if not self._closed:
            # Not a point: this is the clock, not a task.
            with self._scheduler.watching():
                self._alarms._actions.put(action)

"""Puts the program under test under the scheduler.

Only this file knows which names of the core stand for its threads and locks.

Names in three modules of the core are replaced: the locks and thread numbers of the line and of the engine, and the
locks of the gates. All other parts come with the ``time`` of the controller: a virtual clock, alarms on a task of their
own, and workers.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import threading
import types
from typing import TYPE_CHECKING, Any

from simulation.tasks import Lock, SimpleQueue, Timer
from support.inside import engine_of

from htppower.control import termination
from htppower.control.core import engine, line, link
from htppower.control.gate import gate
from htppower.control.plans import plans
from htppower.control.time.workers import run_and_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

_LOGGER = logging.getLogger("htppower")
# A controller ends with its run, so it needs no end at the exit of the process.
_NO_EXIT = types.SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)


@contextlib.contextmanager
def installed(scheduler: Scheduler) -> Iterator[None]:
    """Put the controllers that are made in this context under the scheduler."""
    numbers = itertools.count(1)

    def ident() -> int | None:
        return threading.main_thread().ident if scheduler.current.main else scheduler.current.number

    replaced: list[tuple[Any, str, Any]] = [
        (line, "allocate_lock", lambda: Lock(scheduler, f"lock {next(numbers)} of the line")),
        (line, "get_ident", lambda: scheduler.current.number),
        (engine, "get_ident", ident),
        (gate, "make_gate_lock", lambda: Lock(scheduler, f"gate {next(numbers)}", reentrant=True)),
        (termination, "atexit", _NO_EXIT),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    # The engines of earlier runs may exist until the garbage collector runs, and must not be found.
    engine.ENGINES.forked()
    for module, name, stand_in in replaced:
        setattr(module, name, stand_in)
    try:
        yield
    finally:
        for module, name, real in before:
            setattr(module, name, real)


def link_of(controller: Any) -> str:
    """Return the link's state, as in the status of a controller, which would take half of a run to make."""
    return str(engine_of(controller).recovery.link.state)


def orphans_of(controller: Any) -> set[int]:
    """Return the ids that could not be destroyed, as in the status of a controller."""
    return set(engine_of(controller).recovery.orphans)


def remember() -> None:
    """Keep the caches of the core's pure functions for all runs of the process."""
    link_module: Any = link
    if isinstance(link_module.transitions, types.SimpleNamespace):
        return
    for name in ("_refuse_values", "_refuse", "_plan"):
        setattr(plans, name, _remembering(getattr(plans, name)))
    # The link is the model of the machine, which has no state of its own.
    made = functools.cache(lambda: real(**given))
    real, given = link_module.transitions.Machine, dict[str, Any]()
    link_module.transitions = types.SimpleNamespace(Machine=lambda **asked: given.update(asked) or made())


def _remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    made: dict[tuple[object, ...], Any] = {}

    def remembered(*args: Any) -> Any:
        key = tuple((each.changes, *each.options.items()) if isinstance(each, plans.Missing) else each for each in args)
        if key not in made:
            made[key] = function(*args)
        return made[key]

    return remembered


class SimulatedWorker:
    """Runs actions one after the other on a task of its own, which starts with the first action."""

    inline = False

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        self._name = name
        self._actions = SimpleQueue(scheduler)
        self._task: Task | None = None
        self._closed = False
        # Takes no lock and is not a point, like that of the real worker.
        self.post_unlocked = self._actions.put

    @property
    def pending(self) -> int:
        """The number of actions that wait to be run."""
        return self._actions.qsize()

    def start(self) -> None:
        """Start the task."""
        if self._task is None:
            self._task = self._scheduler.spawn(self._name, self._work, daemon=True)

    def post(self, action: Callable[[], object]) -> None:
        """Run an action soon; a closed worker ignores it."""
        if not self._closed:
            self.start()
            self._actions.put(action)

    def flush(self, timeout_s: float) -> bool:
        """Wait until all posted actions have run; return whether they have within the timeout."""
        if self._task is None or self._task is self._scheduler.current or self._task.done:
            return True
        done = Lock(self._scheduler, f"the end of the actions of {self._name}")
        done.acquire()
        self._actions.put(done.release)
        return done.acquire(timeout=timeout_s)

    def keep(self, idle_s: float | None) -> None:
        """Do nothing, since a waiting task costs nothing."""

    def close(self) -> None:
        """Run the posted actions, then end."""
        self._closed = True
        self._actions.put(None)

    def _work(self) -> None:
        while (action := self._actions.get()) is not None:
            run_and_log(action, _LOGGER)
            del action


class SimulatedTime:
    """A clock and alarms in virtual time."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._soon = SimulatedWorker(scheduler, "time")
        self.call_soon = self._soon.post_unlocked
        self.start = self._soon.start

    @property
    def now_us(self) -> int:
        """The time."""
        return self._scheduler.now_us

    def now_ns(self) -> int:
        """Return the time."""
        return self._scheduler.now_us * 1000

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Timer:
        """Run an action on the task of the alarms, at the deadline or soon after."""
        self.start()
        alarm = Timer(action)
        if deadline_us <= self.now_us:
            self.call_soon(lambda: _ring(alarm))
        else:
            self._scheduler.call_at(deadline_us, lambda: alarm.action and self.call_soon(lambda: _ring(alarm)))
        return alarm

    def cancel(self, alarm: Timer) -> None:
        """Cancel an alarm that has not rung."""
        alarm.clear()

    def worker(self, name: str, idle_s: float | None = None) -> SimulatedWorker:
        """Return a worker with a task of its own."""
        return SimulatedWorker(self._scheduler, name.removeprefix("htppower-"))

    def close(self) -> None:
        """Do nothing: no controller that is given a time closes it."""


def _ring(alarm: Timer) -> None:
    action, alarm.action = alarm.action, None
    if action is not None:
        action()

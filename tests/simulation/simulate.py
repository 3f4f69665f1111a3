"""One run: a program under a scheduler, judged by the specification."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from simulation.backend import SimulatedBackend
from simulation.binding import SimulatedTime, installed
from simulation.call_rules import EventRules
from simulation.choices import Random
from simulation.host import Host
from simulation.program import draw, has
from simulation.scheduler import Scheduler
from simulation.situation import HEARTBEAT_US
from simulation.specification import Specification
from simulation.tasks import Violation

import htppower

if TYPE_CHECKING:
    from simulation.choices import Choices, Made
    from simulation.program import Op, Program
    from simulation.tasks import Task

# Once faults have ended, everything must be right after this time: a held link is tried again every 60 s.
WELL_US = 200_000_000
QUIET_US = 20_000_000


class Result(NamedTuple):
    """The result of a run: the broken rule, the numbers of steps and native calls, the picks, and the trace."""

    violation: Violation | None
    steps: int
    calls: int
    made: tuple[Made, ...]
    trace: tuple[str, ...]


class _Log(logging.Handler):
    """Fails the run if an exception is logged."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(logging.ERROR)
        self._scheduler = scheduler

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not self._scheduler.over:
            details = f"{record.getMessage()}: {error!r}"
            self._scheduler.fail(Violation("nothing of ours fails on a thread of ours", details))


@contextlib.contextmanager
def _alone(scheduler: Scheduler) -> Any:
    """Judge the log, and collect no garbage while this context lasts."""
    logger, log = logging.getLogger("htppower"), _Log(scheduler)
    level, propagate, collects = logger.level, logger.propagate, gc.isenabled()
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.addHandler(log)
    gc.disable()
    try:
        yield
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
        logger.propagate = propagate
        if collects:
            gc.enable()


class Window:
    """The part of a small case in which the choices decide.

    It opens when all threads have reached it, and closes when all have left it. A thread enters it with an op
    ``enter``, or with its first op, and leaves it with an op ``leave``, or with its last op.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, threads: int) -> None:
        self._scheduler = scheduler
        self._backend = backend
        self._waiting: list[Task] = []
        self._entered: set[Task] = set()
        self._threads = self._inside = threads
        self._watcher: Task | None = None

    def watch(self) -> None:
        """Open the window when all threads wait, and let them continue when they have left it."""
        self._watcher = self._scheduler.current
        self._let_go_on()
        self._backend.count_faults()
        self._scheduler.let_choose(True)
        self._let_go_on()

    def enter(self) -> None:
        """Wait until the window opens, unless the task is inside."""
        if self._scheduler.current not in self._entered:
            self._entered.add(self._scheduler.current)
            self._wait("the window to open")

    def leave(self) -> None:
        """Wait until the window closes, unless the task is outside. When the last task leaves, the choices end."""
        if self._scheduler.current in self._entered:
            self._entered.discard(self._scheduler.current)
            self._inside -= 1
            if not self._inside:
                self._scheduler.let_choose(False)
            self._wait("the window to close")

    def _wait(self, for_what: str) -> None:
        self._waiting.append(self._scheduler.current)
        if self._watcher is not None and len(self._waiting) == self._threads:
            self._scheduler.wake(self._watcher)
        self._scheduler.block(for_what)

    def _let_go_on(self) -> None:
        """Wait until all threads wait, and then wake them."""
        if len(self._waiting) < self._threads:
            self._scheduler.block("the threads of the case")
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self._scheduler.wake(task)


def simulate(program: Program, choices: Choices, *, small: bool = False, traced: bool = False) -> Result:
    """Run a program; ``small``: the choices decide only in the window of a small case."""
    scheduler = Scheduler(choices, traced=traced)
    backend = SimulatedBackend(scheduler, program)
    with _alone(scheduler), installed(scheduler), contextlib.suppress(Violation):
        specification = Specification(scheduler, backend, raises=program.raises)
        run = functools.partial(_run, specification, backend, program, small=small)
        scheduler.spawn("main", run, last=small)
        scheduler.run()
    return Result(scheduler.failure, scheduler.steps, backend.calls, tuple(choices.made), tuple(scheduler.trace or ()))


def warm_up() -> None:
    """Use each feature once, so that no run includes what happens only once in a process."""
    simulate(draw("warm up"), Random("warm up"))


def _run(specification: Specification, backend: SimulatedBackend, program: Program, *, small: bool) -> None:
    """Do a whole run, on its main task."""
    situation = specification.situation
    scheduler = situation.scheduler
    make = functools.partial(
        htppower.VoteController,
        backend,
        time=SimulatedTime(scheduler),
        heartbeat_us=HEARTBEAT_US if program.heartbeat else 0,
        on_error="raise" if program.raises else "continue",
        handle_sigterm=False,
    )
    situation.controller = controller = make()
    if small:
        scheduler.let_choose(False)
    events = EventRules(specification.calls)
    if program.subscribed:
        controller.subscribe(events.take)
    window = Window(scheduler, backend, len(program.threads))
    host = Host(specification, program, make, window)
    for place, name in enumerate(program.profiles):
        host.open(place, name)
    threads = [
        scheduler.spawn(
            f"{'main ' if number in program.mains else ''}thread {number}",
            functools.partial(_do, host, window if small else None, ops),
            main=number in program.mains,
        )
        for number, ops in enumerate(program.threads)
    ]
    if small:
        window.watch()
    for thread in threads:
        scheduler.join(thread)
    host.join()
    scheduler.let_choose(not small)
    host.make_well()
    scheduler.sleep(WELL_US)
    # The specification checks everything before time moves again.
    scheduler.sleep(1)
    specification.check_well()
    host.close()
    scheduler.sleep(QUIET_US)
    if program.subscribed:
        events.check(controller)


def _do(host: Host, window: Window | None, ops: tuple[Op, ...]) -> None:
    """Run the operations of a thread; in a small case the thread enters and leaves the window."""
    if window is not None and not has(ops, "enter"):
        window.enter()
    host.run(ops)
    if window is not None:
        window.leave()

"""One run: a program under a scheduler, judged by the specification."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
from typing import TYPE_CHECKING, Any

import attrs
from simulation.backend import SimulatedBackend
from simulation.binding import installed
from simulation.choices import Random
from simulation.event_rules import EventRules
from simulation.host import Host
from simulation.program import draw
from simulation.scheduler import Scheduler, Violation
from simulation.situation import HEARTBEAT_US
from simulation.specification import Specification
from simulation.virtual import SimulatedTime
from simulation.window import Window, has

import htppower

if TYPE_CHECKING:
    from simulation.choices import Choices, Made
    from simulation.program import Op, Program

# Once nothing fails any more, everything is well after this: a link that is held is tried again each 60 s.
WELL_US = 200_000_000
QUIET_US = 20_000_000


@attrs.frozen
class Result:
    """How a run went.

    Attributes:
        violation: what did not hold, or None.
        steps: how many there were.
        calls: how many native calls.
        made: the choices that were not the first possibility.
        trace: what happened, if that was kept.
    """

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


def simulate(program: Program, choices: Choices, *, small: bool = False, traced: bool = False) -> Result:
    """Run a program, and return how it went; ``small``: the choices are asked in the window of a small case only."""
    scheduler = Scheduler(choices, traced=traced)
    logger, log = logging.getLogger("htppower"), _Log(scheduler)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.addHandler(log)
    collects = gc.isenabled()
    gc.disable()
    try:
        with installed(scheduler), contextlib.suppress(Violation):
            backend = SimulatedBackend(scheduler, 2 * len(program.cores), program.faults, device=program.device)
            specification = Specification(scheduler, backend)
            main = _Main(scheduler, specification, backend, program, small=small)
            scheduler.spawn("main", main.run, last=small)
            scheduler.run()
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
        logger.propagate = propagate
        if collects:
            gc.enable()
    return Result(scheduler.failure, scheduler.steps, backend.calls, tuple(choices.made), tuple(scheduler.trace or ()))


def warm_up() -> None:
    """Run something of everything, so that what happens once in a process is no part of any run."""
    simulate(draw("warm up"), Random("warm up"))


class _Main:
    """What a run does from begin to end."""

    def __init__(
        self,
        scheduler: Scheduler,
        specification: Specification,
        backend: SimulatedBackend,
        program: Program,
        *,
        small: bool,
    ) -> None:
        self._scheduler = scheduler
        self._specification = specification
        self._backend = backend
        self._program = program
        self._small = small
        self._time = SimulatedTime(scheduler)

    def _controller(self) -> Any:
        return htppower.VoteController(
            self._backend,
            time=self._time,
            heartbeat_us=HEARTBEAT_US if self._program.heartbeat else 0,
            on_error="raise" if self._program.raises else "continue",
            handle_sigterm=False,
        )

    def run(self) -> None:
        scheduler, specification, program = self._scheduler, self._specification, self._program
        specification.situation.controller = controller = self._controller()
        if self._small:
            scheduler.let_choose(False)
        events = EventRules(specification)
        if program.subscribed:
            controller.subscribe(events.take)
        window = Window(scheduler, self._backend, len(program.threads))
        host = Host(specification, self._backend, program, self._controller, window)
        for place, name in enumerate(program.profiles):
            host.open(place, name)
        threads = [
            scheduler.spawn(
                f"{'main ' if number in program.mains else ''}thread {number}",
                functools.partial(_run, host, window if self._small else None, ops),
                main=number in program.mains,
            )
            for number, ops in enumerate(program.threads)
        ]
        if self._small:
            window.watch()
        for thread in threads:
            scheduler.join(thread)
        host.join()
        scheduler.let_choose(not self._small)
        host.make_well()
        scheduler.sleep(WELL_US)
        # Everything is looked at before time moves on.
        scheduler.sleep(1)
        specification.check_well()
        host.close()
        scheduler.sleep(QUIET_US)
        if program.subscribed:
            events.check(controller)


def _run(host: Host, window: Window | None, ops: tuple[Op, ...]) -> None:
    """Do what a thread does; if there is a window, it enters and leaves that."""
    if window is not None and not has(ops, "enter"):
        window.enter()
    host.run(ops)
    if window is not None:
        window.leave()

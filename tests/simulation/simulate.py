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
from simulation.scheduler import Scheduler
from simulation.situation import HEARTBEAT_US, Promises
from simulation.specification import Specification
from simulation.tasks import Violation
from simulation.virtual import SimulatedTime
from simulation.window import Window, has

import htppower

if TYPE_CHECKING:
    from simulation.choices import Choices, Made
    from simulation.program import Op, Program

# Once nothing fails any more, everything has come down after this: the longest back-off twice, and every sustain.
QUIET_US = 20_000_000


@attrs.frozen
class Result:
    """How a run went.

    Attributes:
        violation: what did not hold, or None.
        steps: how many there were.
        calls: how many native calls.
        made: the choices that were not the first possibility.
        trace: who went on and what happened, if that was kept.
        now_us: when it ended.
    """

    violation: Violation | None
    steps: int
    calls: int
    made: tuple[Made, ...]
    trace: tuple[str, ...]
    now_us: int


class _Log(logging.Handler):
    """Fails the run where an exception is logged that nobody has injected."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(logging.ERROR)
        self._scheduler = scheduler

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or self._scheduler.over or isinstance(error, KeyboardInterrupt):
            return
        self._scheduler.fail(
            Violation("nothing of ours fails on a thread of ours", f"{record.getMessage()}: {error!r}")
        )


def simulate(
    program: Program, choices: Choices, promises: Promises, *, coarse: bool = False, traced: bool = False
) -> Result:
    """Run a program, and return how it went."""
    scheduler = Scheduler(choices, fine=program.fine, coarse=coarse, traced=traced)
    logger, log = logging.getLogger("htppower"), _Log(scheduler)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.addHandler(log)
    collects = gc.isenabled()
    gc.disable()
    try:
        with installed(scheduler), contextlib.suppress(Violation):
            backend = SimulatedBackend(
                scheduler,
                2 * len(program.cores),
                program.faults,
                all_told=program.all_told,
                lowest_ids=program.lowest_ids,
            )
            specification = Specification(scheduler, backend, promises)
            scheduler.spawn("main", lambda: _main(scheduler, specification, backend, program))
            scheduler.run()
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
        logger.propagate = propagate
        if collects:
            gc.enable()
    return Result(
        scheduler.failure,
        scheduler.steps,
        backend.calls,
        tuple(choices.made),
        tuple(scheduler.trace or ()),
        scheduler.now_us,
    )


def warm_up() -> None:
    """Run something of everything, so that what happens once in a process is no part of any run."""
    simulate(draw("warm up"), Random("warm up"), Promises())
    simulate(attrs.evolve(draw("warm up"), fine=True), Random("warm up"), Promises())


def _controller(time: SimulatedTime, backend: SimulatedBackend, program: Program) -> Any:
    return htppower.VoteController(
        backend,
        time=time,
        heartbeat_us=HEARTBEAT_US if program.heartbeat else 0,
        on_error="raise" if program.raises else "continue",
        handle_sigterm=False,
    )


def _main(scheduler: Scheduler, specification: Specification, backend: SimulatedBackend, program: Program) -> None:
    make = functools.partial(_controller, SimulatedTime(scheduler), backend, program)
    specification.situation.controller = controller = make()
    # In small cases, while the window is open.
    if scheduler.coarse:
        scheduler.let_choose(False)
    events = EventRules(specification)
    if program.subscribed:
        controller.subscribe(events.take)
    window = Window(scheduler, backend, len(program.threads))
    host = Host(specification, backend, program, make, window)
    for place, name in enumerate(program.profiles):
        host.controllers.open(place, name)
    threads = [
        scheduler.spawn(f"thread {number}", functools.partial(_run, host, window if scheduler.coarse else None, ops))
        for number, ops in enumerate(program.threads)
    ]
    scheduler.current.last = True
    if scheduler.coarse:
        window.watch()
    for thread in threads:
        if not thread.done:
            thread.waiters.append(scheduler.current)
            scheduler.block(f"the end of {thread}")
    host.join()
    backend.spared = scheduler.prompt = True
    scheduler.let_choose(not scheduler.coarse)
    if backend.htp._dead:
        backend.restart()
        specification.restarted()
    scheduler.sleep(QUIET_US)
    # Everything is looked at before time moves on.
    scheduler.sleep(1)
    specification.check_well()
    with scheduler.watching():
        specification.check_learnt()
    host.controllers.close()
    scheduler.sleep(QUIET_US)
    if program.subscribed:
        events.check(controller)


def _run(host: Host, window: Window | None, ops: tuple[Op, ...]) -> None:
    """Do what a thread does; where there is a window, it enters and leaves that."""
    if window is not None and not has(ops, "enter"):
        window.enter()
    host.run(ops)
    if window is not None:
        window.leave()

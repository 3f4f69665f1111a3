"""Small cases, run in every order of steps in which at most so many tasks are made to wait that could go on.

An order is a sequence of what tasks do to locks, queues, alarms and native calls while the case's two threads run.
Orders that differ only in when a task gives something back, takes a lock again that it holds, orders events, or hands
on what is in a queue of its own, are one: nothing that another task does depends on it. Threads of the pool begin in
the order in which they were asked for; where a later one overtakes one that has begun, that one is made to wait. What
is still to come when both threads have ended runs in one order. There is no heartbeat.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import attrs
from simulation.backend import Fault
from simulation.choices import every_order
from simulation.program import Op, Program
from simulation.shrink import Failing
from simulation.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.situation import Promises

# Two sessions on a core each, of a profile that sustains and of one that lowers at once.
_CORES = ((0,), (2,))
_SUSTAINED = ("brisk", "steady")
_AT_ONCE = ("balanced", "balanced")
_LATER = Op("rest", us=20_000)


def _infer(place: int, *inner: Op) -> Op:
    return Op("infer", place, inner=inner)


# What two threads do beside each other.
_PAIRS: dict[str, tuple[tuple[Op, ...], tuple[Op, ...]]] = {
    "two inferences of one session": ((_infer(0),), (_infer(0),)),
    "inferences of two sessions": ((_infer(0),), (_infer(1),)),
    "an inference, and another after the sustain time": ((_infer(0),), (_LATER, _infer(0))),
    "an inference and a close": ((_infer(0),), (Op("close", 0, name="balanced"),)),
    "an inference and another profile": ((_infer(0),), (Op("use", 0, name="power_saver"),)),
    "an inference and a hold": ((_infer(0),), (Op("hold", 0, name="burst", how="release"),)),
    "an inference and a cap": ((_infer(0),), (Op("cap", name="balanced"),)),
    "INIT and an inference": ((Op("init", 0),), (_infer(0),)),
    "an inference and DE-INIT": ((_infer(0),), (Op("deinit", 0),)),
    "an inference under a hold, and a cap": (
        (Op("hold", 0, name="burst", how="release", inner=(_infer(0),)),),
        (Op("cap", name="balanced"),),
    ),
}
# One fault, at each of the first calls after the two sessions were opened; and what happens to the subsystem.
_FAULTY_CALLS = (3, 4, 5)
_SUBSYSTEM: dict[str, tuple[Op, ...]] = {
    "a restart": (Op("restart"),),
    "a restart in which ids are forgotten": (Op("forget"),),
    "a DSP that dies and comes back": (Op("die"), _LATER, Op("restart")),
}


@attrs.frozen
class Case:
    """A small program.

    Attributes:
        name: what it is.
        program: the program.
    """

    name: str
    program: Program


def cases() -> Iterator[Case]:
    """Yield every small case: first all without a fault, then with one, then with each fate of the subsystem."""
    plain = {
        f"{what}, {profiles[0]}": Program(_CORES, profiles, threads, subscribed=False, heartbeat=False)
        for what, threads in _PAIRS.items()
        for profiles in (_SUSTAINED, _AT_ONCE)
    }
    for name, program in plain.items():
        yield Case(name, program)
    for name, program in plain.items():
        for number in _FAULTY_CALLS:
            faults = {number: Fault(13006, applied=1)}
            yield Case(f"{name}, call {number} fails", attrs.evolve(program, faults=faults))
    for name, program in plain.items():
        first, second = program.threads
        for fate, ops in _SUBSYSTEM.items():
            threads = (first, (*ops, *second))
            yield Case(f"{name}, {fate} before the second", attrs.evolve(program, threads=threads))


@attrs.frozen
class Explored:
    """How a small case went.

    Attributes:
        runs, steps: how many there were.
        complete: whether every order was looked at.
        failed: the first run that failed, None where none has.
        broken: what it has broken, and how.
    """

    runs: int
    steps: int
    complete: bool
    failed: Failing | None = None
    broken: str = ""


def explore(
    program: Program,
    promises: Promises,
    most_preemptions: int,
    end_s: float,
    *,
    most_s: float = math.inf,
) -> Explored:
    """Run a program in every order, until one fails or the time is over.

    Args:
        program: the program.
        promises: what the core promises.
        most_preemptions: how many times a task that could go on may be made to wait.
        end_s: when to give up, by the monotonic clock.
        most_s: how long it may take.
    """
    end_s = min(end_s, time.monotonic() + most_s)
    runs = steps = 0
    for choices in every_order(most_preemptions):
        if time.monotonic() > end_s:
            return Explored(runs, steps, complete=False)
        result = simulate(program, choices, promises, coarse=True)
        runs += 1
        steps += result.steps
        if result.violation is not None:
            failing = Failing(program, result.made, result.violation.rule)
            return Explored(runs, steps, complete=False, failed=failing, broken=str(result.violation))
    return Explored(runs, steps, complete=True)

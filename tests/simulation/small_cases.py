"""Small cases, run in every order with at most N preemptions: ``python tests/simulation/run.py --exhaustive``.

A case has two threads that each make one call, two sessions, and at most one fault, without a heartbeat. Its *window*
is the part that is run in every order: from the begin of the calls to their return, with the worker and the alarms. The
rest of the run has one order. Cases with many orders are run only with ``--large``.

An order is a sequence of the operations on the locks of the line and of the gates, on the queues of the worker and the
alarms, and of native calls. At each of these points another ready task may run, which is a preemption. If the running
task waits or ends, any ready task may run, which is not a preemption. In at most ``--slow`` of the preemptions time
moves to the next alarm instead, and never to the one after it.

So every order with N preemptions is run, except for two kinds of switches. A switch between two points is never tried:
the locks, or the line, protect all data there. A switch before a wait changes nothing (``tasks``), and neither does a
switch after a native call, if nothing happens to the subsystem: no other task sees how far a call is.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import attrs
from simulation.backend import Fault
from simulation.choices import every_order
from simulation.program import Op, Program, every_op, has
from simulation.shrink import Failing, show
from simulation.simulate import simulate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

# Each session has its own core. Under the first profiles the sessions sustain, and under the others they lower at once.
_CORES = ((0,), (2,), (4,))
_PROFILES = {"brisk": ("brisk", "steady", "balanced"), "balanced": ("balanced", "balanced", "balanced")}
# Longer than the sustain time of ``brisk``, so that only the alarm is due when the rest ends.
_SUSTAINED_US = 30_000
_ENTER, _LEAVE = Op("enter"), Op("leave")


def _on(place: int, which: str) -> dict[str, tuple[Op, ...]]:
    """Return calls on a session with a profile: the operations of a thread, with one call inside the window."""
    sustains = {"the sustain time ends": (Op("infer", place), _ENTER, Op("rest", place, us=_SUSTAINED_US))}
    hold = Op("hold", place, name="burst", how="release")
    return {
        "an inference begins": (Op("infer", place, inner=(_LEAVE,)),),
        "an inference ends": (Op("infer", place, inner=(_ENTER,)),),
        "INIT begins": (Op("init", place, inner=(_LEAVE,)),),
        "INIT ends": (Op("init", place, inner=(_ENTER,)),),
        "DE-INIT ends": (Op("deinit", place, inner=(_ENTER,)),),
        "a hold begins": (attrs.evolve(hold, inner=(_LEAVE,)),),
        "a hold ends": (attrs.evolve(hold, inner=(_ENTER,)),),
        "another profile": (Op("use", place, name="power_saver"),),
        "a close": (Op("close", place, name="balanced"),),
        **(sustains if which == "brisk" else {}),
    }


_ON_CAPS = {
    "a cap begins": (Op("cap", name="balanced", inner=(_LEAVE,)),),
    "a cap ends": (Op("cap", name="balanced", inner=(_ENTER,)),),
}
_ON_ALL = _ON_CAPS | {"the host sees a lost link": (Op("link_lost"),)}
# Events of the subsystem, which may happen at any time.
_FATES = {
    "a restart": Op("restart"),
    "a crash": Op("restart", how="crashed"),
    "a rebuild that is spoilt": Op("spoil"),
    "the DSP dies": Op("die"),
    "polling is refused": Op("refuse"),
}
# The numbers of the calls that fail, counted from the opening of the window. Their first vote is applied.
_FAILING = (1, 2, 3)


class Case(NamedTuple):
    """A small program; ``large``: it has so many orders that it is run only with ``--large``."""

    name: str
    program: Program
    large: bool


def cases() -> Iterator[Case]:
    """Yield every case: two calls, without a fault and with one, and a call together with what happens to the DSP."""
    for which in _PROFILES:
        for what, threads in _pairs(which):
            yield _case(f"{what}, {which}", which, threads, large=False)
            for number in _FAILING:
                large = number > 1 or "cap" in what or "close" in what
                yield _case(f"{what}, {which}, call {number} fails", which, threads, fails=number, large=large)
            first, second = threads
            for fate, op in _FATES.items():
                yield _case(f"{what}, {which}, {fate} before", which, (first, _with_fate(second, op)), large=True)
        for what, ops in (_on(0, which) | _ON_ALL).items():
            for fate, op in _FATES.items():
                yield _case(f"{what} and {fate}, {which}", which, (ops, (op,)), large=False)


def _case(name: str, which: str, threads: tuple[tuple[Op, ...], ...], *, large: bool, fails: int = 0) -> Case:
    faults = {fails: Fault(13006, applied=1)} if fails else {}
    sessions = max(2, *(1 + op.place for ops in threads for op in every_op(ops)))
    cores, profiles = _CORES[:sessions], _PROFILES[which][:sessions]
    # The controller treats the second thread as the main thread, so the worker runs its steps.
    program = Program(cores, profiles, threads, faults, frozenset({1}), subscribed=False, heartbeat=False)
    return Case(name, program, large)


def _pairs(which: str) -> Iterator[tuple[str, tuple[tuple[Op, ...], tuple[Op, ...]]]]:
    """Yield all pairs of calls, on one session and on two."""
    own, other = _on(0, which), _on(1, which)
    for first, second in itertools.combinations_with_replacement(own, 2):
        yield f"{first} and {second} on one session", (own[first], own[second])
        yield f"{first} and {second} on another", (own[first], other[second])
    for first, second in itertools.product(own, _ON_CAPS):
        yield f"{first} and {second}", (own[first], _ON_CAPS[second])
    for first, second in itertools.combinations_with_replacement(_ON_CAPS, 2):
        yield f"{first} and {second}", (_ON_CAPS[first], _ON_CAPS[second])


def _with_fate(ops: tuple[Op, ...], fate: Op) -> tuple[Op, ...]:
    """Return the operations of a thread, with an event of the subsystem as the first one in the window."""
    return _after_enter(ops, fate) if has(ops, "enter") else (fate, *ops)


def _after_enter(ops: tuple[Op, ...], fate: Op) -> tuple[Op, ...]:
    within = (attrs.evolve(op, inner=_after_enter(op.inner, fate)) for op in ops)
    return tuple(itertools.chain.from_iterable((op, fate) if op == _ENTER else (op,) for op in within))


class Explored(NamedTuple):
    """The result of a small case: whether every order was run, and the first failing run with its violation."""

    runs: int
    steps: int
    complete: bool
    failed: Failing | None = None
    broken: str = ""


def explore(program: Program, preemptions: int, slow: int, end_s: float) -> Explored:
    """Run a program in every order, until a run fails, or until a time by the monotonic clock."""
    runs = steps = 0
    for choices in every_order(preemptions, slow):
        if time.monotonic() > end_s:
            return Explored(runs, steps, complete=False)
        result = simulate(program, choices, small=True)
        runs += 1
        steps += result.steps
        if result.violation is not None:
            failing = Failing(program, result.made, result.violation.rule)
            return Explored(runs, steps, complete=False, failed=failing, broken=str(result.violation))
    return Explored(runs, steps, complete=True)


def run_exhaustive(given: argparse.Namespace) -> int:
    """Run every small case in every order; return how many failed, and with ``--whole`` were not complete."""
    begun_s = time.monotonic()
    broken = runs = steps = complete = 0
    chosen = [case for case in cases() if given.case in case.name and (given.large or not case.large)]
    if not chosen:
        raise LookupError(f"no small case has {given.case!r} in its name")
    look = partial(explore, preemptions=given.preemptions, slow=given.slow, end_s=begun_s + given.seconds)
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("fork")) as processes:
        looked = {processes.submit(look, case.program): case for case in chosen}
        for done in as_completed(looked):
            case, explored = looked[done], done.result()
            runs, steps, complete = runs + explored.runs, steps + explored.steps, complete + explored.complete
            print(f"{explored.runs:>8,} orders  {'' if explored.complete else 'not all '}{case.name}", flush=True)
            if explored.failed is not None:
                broken += 1
                print(f"BROKEN {explored.broken}", flush=True)
                if given.shrink:
                    show(explored.failed, seconds=given.shrink, small=True)
                if given.first:
                    processes.shutdown(cancel_futures=True)
                    break
    print(
        f"{complete} of {len(chosen)} cases in every order with at most {given.preemptions} preemptions, "
        f"at most {given.slow} of them slow: {runs:,} orders, {steps:,} steps, {broken} broken, "
        f"{time.monotonic() - begun_s:.0f} s"
    )
    print("broken" if broken else "nothing broke")
    if given.whole and complete < len(chosen):
        print("not complete")
        return broken + len(chosen) - complete
    return broken

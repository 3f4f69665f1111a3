"""Small cases: two threads that each make one call, two sessions, and at most one fault. There is no heartbeat.

The *window* of a case is the part that is run in every order. It reaches from the begin of the calls to their return,
with what the worker and the alarms do meanwhile. The rest of the run has one order.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs
from simulation.backend import Fault
from simulation.program import Op, Program, every_op, has

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.backend import SimulatedBackend
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

# The sessions have a core each. Under the first profiles they sustain, and under the others they lower at once.
_CORES = ((0,), (2,), (4,))
_PROFILES = {"brisk": ("brisk", "steady", "balanced"), "balanced": ("balanced", "balanced", "balanced")}
# Longer than brisk sustains after an inference, so that only the alarm is due when the rest ends.
_SUSTAINED_US = 30_000
_ENTER, _LEAVE = Op("enter"), Op("leave")


def _on(place: int, which: str) -> dict[str, tuple[Op, ...]]:
    """Return the calls on a session of a profile: what a thread does, with one call inside the window."""
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
# What happens to the subsystem, at any time.
_FATES = {
    "a restart": Op("restart"),
    "a crash": Op("restart", how="crashed"),
    "a rebuild that is spoilt": Op("spoil"),
    "the DSP dies": Op("die"),
    "polling is refused": Op("refuse"),
}
# The numbers of the calls that fail, counted from the opening of the window. Their first vote is applied.
_FAILING = (1, 2, 3)


@attrs.frozen
class Case:
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
    # The controller takes the second thread for the main thread, so the worker runs its steps.
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
    """Return what a thread does, with a fate as the first op in the window."""
    return _after_enter(ops, fate) if has(ops, "enter") else (fate, *ops)


def _after_enter(ops: tuple[Op, ...], fate: Op) -> tuple[Op, ...]:
    within = (attrs.evolve(op, inner=_after_enter(op.inner, fate)) for op in ops)
    return tuple(itertools.chain.from_iterable((op, fate) if op == _ENTER else (op,) for op in within))


class Window:
    """Opens when all threads have come to it, and closes when all have left it. The rest of the run has one order.

    A thread enters it with an op ``enter``, or with its first op, and leaves it with an op ``leave``, or with its last
    op. At both it waits for the others.

    Args:
        scheduler: the choices are asked while the window is open.
        backend: counts the calls for its faults from the opening on.
        threads: the number of threads.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, threads: int) -> None:
        self._scheduler = scheduler
        self._backend = backend
        self._waiting: list[Task] = []
        self._entered: set[Task] = set()
        self._threads = self._inside = threads
        self._watcher: Task | None = None

    def watch(self) -> None:
        """Open the window when all threads wait, and let them continue when they have left it.

        The caller is a task that runs only if no other can.
        """
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
        """Wait until the window closes, unless the task is outside. The last task that leaves ends the choices."""
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
        """Wait until all threads wait, and wake them."""
        self._watcher = self._scheduler.current
        while len(self._waiting) < self._threads:
            self._scheduler.block("the threads of the case")
        self._watcher = None
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self._scheduler.wake(task)

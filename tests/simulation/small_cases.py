"""Small cases: two threads of which each makes one call, two sessions, and at most one fault. There is no heartbeat."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs
from simulation.backend import Fault
from simulation.program import Op, Program, every_op
from simulation.window import has

if TYPE_CHECKING:
    from collections.abc import Iterator

# Sessions on a core each, two of a profile that sustains and of one that lowers at once; in few cases another.
_CORES = ((0,), (2,), (4,))
_PROFILES = {"brisk": ("brisk", "steady", "balanced"), "balanced": ("balanced", "balanced", "balanced")}
# Longer than brisk sustains after an inference, so that nothing but the alarm is due when that ends.
_SUSTAINED_US = 30_000
_ENTER, _LEAVE = Op("enter"), Op("leave")


def _on(place: int, which: str) -> dict[str, tuple[Op, ...]]:
    """Return the calls on a session of a profile: what a thread does, in whose window one is made."""
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
# The calls that fail, with their first vote applied, counted from when the window opens.
_FAILING = (1, 2, 3)


@attrs.frozen
class Case:
    """A small program.

    Attributes:
        name: what it is.
        program: the program.
        large: whether it has so many orders that it is run only where that is asked for.
    """

    name: str
    program: Program
    large: bool


def cases() -> Iterator[Case]:
    """Yield every case: two calls, without a fault and with one, and a call beside what happens to the subsystem."""
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
    # The controller takes the second thread for the main one: the worker runs its steps.
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
    """Return what a thread does with something more, first thing in the window."""
    return _after_enter(ops, fate) if has(ops, "enter") else (fate, *ops)


def _after_enter(ops: tuple[Op, ...], fate: Op) -> tuple[Op, ...]:
    """Return ops with something more after that which enters the window, wherever it is."""
    within = (attrs.evolve(op, inner=_after_enter(op.inner, fate)) for op in ops)
    return tuple(itertools.chain.from_iterable((op, fate) if op == _ENTER else (op,) for op in within))

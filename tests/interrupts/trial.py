"""One trial: an operation in a world of its own, an interrupt somewhere in it, and what does not hold afterwards."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

import attrs
from interrupts.injector import Result, Shot, Unit, Way
from interrupts.locks_made import LOCKS
from interrupts.world import World

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from interrupts.injector import Injector
    from interrupts.operations import Operation

# Ctrl-C; what a host's handler of SIGTERM raises; and its time limit, which is an Exception.
KINDS = (KeyboardInterrupt, SystemExit, TimeoutError)
# From CPython 3.12 on the instructions of a function are traced in some of its calls only.
MOST_TRIES = 4 if sys.version_info >= (3, 12) else 2
# Where an interrupt comes as one of these begins, what it is to give up stays: see docs/limits.md.
NOT_BEGUN = frozenset({"__exit__", "lift"})


@attrs.frozen
class Found:
    """What came of a trial.

    Attributes:
        shot: the interrupts that were asked for.
        events: how many lines or instructions were run.
        places: where they came.
        broken: what does not hold.
        trace: where they came, with all callers.
    """

    shot: Shot
    events: int
    places: tuple[str, ...]
    broken: tuple[str, ...]
    trace: str


def attempt(operation: Operation, shot: Shot, injector: Injector) -> Found:
    """Interrupt an operation, and look at what follows; try again where it was not interrupted for want of a trace."""
    for _ in range(MOST_TRIES):
        found = _attempt(operation, shot, injector)
        if found.broken or found.places or found.events >= shot.at:
            break
    return found


def _attempt(operation: Operation, shot: Shot, injector: Injector) -> Found:
    LOCKS.clear()
    world = World(one_call_at_a_time=operation.one_call_at_a_time)
    act = operation.prepare(world)
    result = injector.run(act, shot)
    if result.delivered and result.delivered[-1][1].split()[-1] in operation.begun_after:
        act()
    broken = [] if result.lost and operation.may_be_lost else list(_passed_on(result))
    places = tuple(place for _, place in result.delivered)
    trace = "" if result.surfaced is None else "".join(traceback.format_exception(result.surfaced))
    # What the host does with an exception is to drop it: its frames refer to what was interrupted.
    del act
    result.surfaced = None
    result.delivered.clear()
    try:
        broken += world.broken()
    except Exception as error:  # noqa: BLE001 - that nothing is raised must hold, too
        broken.append(f"afterwards, {error!r} is raised")
        trace += traceback.format_exc()
    if places and places[-1].split()[-1] in NOT_BEGUN:
        broken = [each for each in broken if not each.endswith("without a handle")]
    return Found(shot, result.events, places, tuple(broken), trace)


def count(operation: Operation, unit: Unit, injector: Injector) -> Found:
    """Return how many places an operation has; what was computed once for all is computed before."""
    found = [attempt(operation, Shot(unit=unit), injector) for _ in range(MOST_TRIES)]
    return max(found[1:], key=lambda each: (len(each.broken), each.events))


def draw(operation: Operation, events: int, chance: random.Random, *, pair: bool = False) -> Shot:
    """Return an interrupt at any instruction, of any kind; with ``pair``, and another soon after it."""
    # What comes after the first is told of by the handler of a signal.
    way = Way.SIGNAL if pair or not operation.any_kind else chance.choice(tuple(Way))
    # An Exception that no handler of a signal has raised can't be told from a failure of what it hits.
    most = len(KINDS) if way is Way.SIGNAL else 2
    kinds = KINDS[: most if operation.any_kind else 1]
    kind = chance.choice(kinds)
    then = chance.randint(1, 60) if pair else 0
    return Shot(chance.randint(1, events), then, kind, way, Unit.OPCODE)


def _passed_on(result: Result) -> Iterator[str]:
    came = [error for error, _ in result.delivered]
    if came and not any(result.surfaced is error for error in came):
        yield f"the interrupt is not passed on: {result.surfaced!r} is raised"
    if not came and result.surfaced is not None:
        yield f"{result.surfaced!r} is raised"
    if result.lost:
        yield f"lost by the interpreter: {result.lost}"

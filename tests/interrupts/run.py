"""Interrupt every public operation: ``python tests/interrupts/run.py [NAME ...] [--samples N] [--seed N]``.

Each operation runs on its own controller: once to count its instructions, and once for each instruction, with a Ctrl-C
before this instruction. With ``--samples`` a seed draws the instructions, and exceptions of all kinds are raised. The
exception must reach the caller, no vote or hold may be left, no count may be wrong, and everything must still work. A
failure prints the options that replay it. The exit code is 1 after a failure.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":
    TESTS = Path(__file__).resolve().parents[1]
    sys.path[:1] = [str(TESTS)]

from interrupts.injector import PACKAGE, Injector, Result, Shot
from interrupts.operations import OPERATIONS, Operation
from interrupts.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

# The exceptions of Ctrl-C, of a host's SIGTERM handler, and of a host's time limit, which is an Exception.
KINDS = {kind.__name__: kind for kind in (KeyboardInterrupt, SystemExit, TimeoutError)}
# From CPython 3.12 on, only some calls of a function are traced by instruction.
MOST_TRIES = 4 if sys.version_info >= (3, 12) else 2
# An interrupt at the begin of one of these functions leaves its object unreleased: see docs/limits.md.
NOT_BEGUN = frozenset({"__exit__", "release", "lift"})


class Found(NamedTuple):
    """The number of instructions of an operation, the places of its interrupts, and the conditions that failed."""

    shot: Shot
    events: int
    places: tuple[str, ...]
    broken: tuple[str, ...]


def attempt(operation: Operation, shot: Shot, injector: Injector) -> Found:
    """Interrupt an operation, and check the conditions; try again if a missing trace prevented the interrupt."""
    for _ in range(MOST_TRIES):
        found = _attempt(operation, shot, injector)
        if found.broken or found.places or found.events >= shot.at:
            break
    return found


def _attempt(operation: Operation, shot: Shot, injector: Injector) -> Found:
    world = World()
    act = operation.prepare(world)
    world.settle(0)
    result = injector.run(act, shot)
    if result.delivered and operation.again:
        act()
    broken = [] if result.lost and operation.may_be_lost else list(_passed_on(result))
    places = tuple(place for _, place in result.delivered)
    # The host drops the exception, since its frames refer to the interrupted objects.
    del act
    result.surfaced = None
    result.delivered.clear()
    try:
        broken += world.broken()
    except Exception:  # noqa: BLE001 - that nothing is raised must hold, too
        broken.append(f"afterwards, {traceback.format_exc()}")
    world.time.end()
    if places and places[-1].split()[-1] in NOT_BEGUN:
        broken = [each for each in broken if not each.endswith("without a handle")]
    return Found(shot, result.events, places, tuple(broken))


def _passed_on(result: Result) -> Iterator[str]:
    came = [error for error, _ in result.delivered]
    if came and not any(result.surfaced is error for error in came):
        yield f"the interrupt is not passed on: {result.surfaced!r} is raised"
    if not came and result.surfaced is not None:
        yield f"{result.surfaced!r} is raised"
    if result.lost:
        yield f"lost by the interpreter: {result.lost}"


def trials(operation: Operation, given: argparse.Namespace, injector: Injector) -> Iterator[Found]:
    """Yield the result of an operation without an interrupt, and of every trial."""
    # The first attempt fills the caches, and is not counted.
    found = [attempt(operation, Shot(), injector) for _ in range(MOST_TRIES)]
    clean = max(found[1:], key=lambda each: (len(each.broken), each.events))
    yield clean
    if given.at is not None:
        yield attempt(operation, Shot(given.at, KINDS[given.kind]), injector)
    elif given.samples is None:
        yield from (attempt(operation, Shot(at), injector) for at in range(1, clean.events + 1))
    chance = random.Random(f"{given.seed} {operation.name}")
    for _ in range(given.samples or 0):
        kind = chance.choice([*KINDS.values()] if operation.any_kind else [KeyboardInterrupt])
        yield attempt(operation, Shot(chance.randint(1, clean.events), kind), injector)


def run(operation: Operation, given: argparse.Namespace, injector: Injector) -> tuple[int, int]:
    """Run the trials of an operation; return the number of trials, and of those that broke something."""
    begun_s = time.monotonic()
    found = list(trials(operation, given, injector))
    broken = [each for each in found if each.broken]
    shown: dict[str, int] = {}
    for shot, _, places, wrong in broken:
        shown[wrong[0]] = shown.get(wrong[0], 0) + 1
        if shown[wrong[0]] < 4:
            print(f"BROKEN {'; '.join(wrong)}\n  by {' '.join(places) or 'nothing'}: {operation.name!r}", end="")
            print(f" --at {shot.at} --kind {shot.kind.__name__}")
    hit = len({each.places for each in found})
    elapsed_s = time.monotonic() - begun_s
    print(f"{operation.name:<72} {len(found):>6,} {hit:>6} {len(broken):>5} {elapsed_s:>6.1f} s", flush=True)
    return len(found), len(broken)


def main() -> int:
    """Run the trials of all operations; return the exit code."""
    parser = argparse.ArgumentParser(description="Interrupt every public operation of a controller.")
    parser.add_argument("names", nargs="*", help="parts of the names of the operations; all unless told")
    parser.add_argument("--samples", type=int, help="how many to draw for each; every instruction unless told")
    parser.add_argument("--seed", type=int, default=0, help="draws them; 0 unless told")
    parser.add_argument("--at", type=int, help="replay one: before which instruction")
    parser.add_argument("--kind", choices=KINDS, default="KeyboardInterrupt")
    given = parser.parse_args()
    # The log of failing operations would only hide the results.
    logging.disable()
    injector = Injector((PACKAGE / "control",))
    chosen = [each for each in OPERATIONS if not given.names or any(name in each.name for name in given.names)]
    gc.collect()
    gc.freeze()
    print(f"{'operation':<72} {'runs':>6} {'places':>6} {'wrong':>5} {'time':>6}")
    outcomes = [run(operation, given, injector) for operation in chosen]
    wrong = sum(broken for _, broken in outcomes)
    print(f"{sum(runs for runs, _ in outcomes):,} runs, {wrong} wrong")
    return 1 if wrong or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

"""Interrupt every public operation: ``python tests/interrupts/run.py [NAME ...] [--samples N] [--seed N] [--quick]``.

Each operation is run in a world of its own, once to count its lines, and then once for each of these with a Ctrl-C
there; then with interrupts of all kinds before instructions that a seed draws, by ``--pairs N`` also with two in a
row. After each it is looked at whether the interrupt was passed on, whether anything stays up, is held, or is counted
wrong, and whether all goes on working. A failure prints the options that replay it. The exit code is 1 where something
does not hold.
"""

from __future__ import annotations

import argparse
import gc
import logging
import platform
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    TESTS = Path(__file__).resolve().parents[1]
    sys.path[:1] = [str(TESTS), str(TESTS / "support")]

from interrupts import (  # noqa: F401 - note their operations
    claim_operations,
    controller_operations,
    failure_operations,
    learning_operations,
    session_operations,
    stream_operations,
)
from interrupts.injector import PACKAGE, Injector, Shot, Unit, Way
from interrupts.locks_made import note_locks
from interrupts.operations import OPERATIONS, Operation
from interrupts.trial import KINDS, Found, attempt, count, draw

if TYPE_CHECKING:
    from collections.abc import Iterator

BY_NAME = {kind.__name__: kind for kind in KINDS}


def trials(operation: Operation, given: argparse.Namespace, injector: Injector) -> Iterator[Found]:
    """Yield what comes of an operation as it is, and of every trial of it."""
    if not given.quick:
        clean = count(operation, Unit.LINE, injector)
        yield clean
        for at in range(1, clean.events + 1):
            yield attempt(operation, Shot(at, unit=Unit.LINE), injector)
    clean = count(operation, Unit.OPCODE, injector)
    yield clean
    if given.every_opcode:
        for at in range(1, clean.events + 1):
            yield attempt(operation, Shot(at), injector)
    chance = random.Random(f"{given.seed} {operation.name}")
    for pair in (False,) * given.samples + (True,) * given.pairs if clean.events else ():
        yield attempt(operation, draw(operation, clean.events, chance, pair=pair), injector)


def show(operation: Operation, found: Found) -> None:
    """Print what does not hold, and how to replay it."""
    shot = found.shot
    replay = (
        f"--at {shot.at} --then {shot.then} --kind {shot.kind.__name__} --way {shot.way.name} --unit {shot.unit.name}"
    )
    print(f"BROKEN {'; '.join(found.broken)}" if found.broken else "nothing broke")
    print(f"  by {' and then '.join(found.places) or 'nothing'}: {operation.name!r} {replay}", flush=True)


def run(operation: Operation, given: argparse.Namespace, injector: Injector) -> tuple[int, int]:
    """Run the trials of an operation; return how many there were, and how many broke something."""
    begun_s = time.monotonic()
    runs = broken = 0
    places: set[str] = set()
    # Each kind of failure is shown once for each place.
    shown: set[object] = set()
    for found in trials(operation, given, injector):
        runs += 1
        places.update(found.places)
        broken += bool(found.broken)
        about = found.broken[:1], found.places
        if found.broken and about not in shown:
            shown.add(about)
            show(operation, found)
    elapsed_s = time.monotonic() - begun_s
    print(f"{operation.name:<72} {runs:>6,} {len(places):>5} {broken:>4} {elapsed_s:>6.1f} s", flush=True)
    return runs, broken


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Interrupt every public operation of a controller.")
    parser.add_argument("names", nargs="*", help="parts of the names of the operations; all unless told")
    parser.add_argument(
        "--samples", type=int, default=200, help="how many interrupts to draw for each; 200 unless told"
    )
    parser.add_argument("--seed", type=int, default=0, help="draws them; 0 unless told")
    parser.add_argument("--quick", action="store_true", help="only what is drawn, not every line")
    parser.add_argument("--every-opcode", action="store_true", help="every instruction besides")
    parser.add_argument(
        "--pairs", type=int, default=0, help="how many of two interrupts, one soon after the other, to draw besides"
    )
    parser.add_argument("--backends", action="store_true", help="also within htppower/backends")
    parser.add_argument("--at", type=int, help="replay one: before which line or instruction")
    parser.add_argument("--then", type=int, default=0, help="and before which of those after that one")
    parser.add_argument("--kind", choices=BY_NAME, default="KeyboardInterrupt")
    parser.add_argument("--way", choices=[way.name for way in Way], default="SIGNAL")
    parser.add_argument("--unit", choices=[unit.name for unit in Unit], default="LINE")
    return parser.parse_args(arguments)


def main() -> int:
    """Run the trials of all operations; return the exit code."""
    given = parse()
    # What is logged of an operation that fails says nothing here.
    logging.disable()
    note_locks()
    injector = Injector((PACKAGE / "control", *([PACKAGE / "backends"] if given.backends else ())))
    chosen = [each for each in OPERATIONS if not given.names or any(name in each.name for name in given.names)]
    if not chosen:
        print(f"no operation has {' or '.join(map(repr, given.names))} in its name", file=sys.stderr)
        return 2
    gc.collect()
    gc.freeze()
    if given.at is not None:
        shot = Shot(given.at, given.then, BY_NAME[given.kind], Way[given.way], Unit[given.unit])
        for operation in chosen:
            count(operation, shot.unit, injector)
            found = attempt(operation, shot, injector)
            print(found.trace)
            show(operation, found)
        return 0
    print(f"CPython {platform.python_version()}, seed {given.seed}")
    print(f"{'operation':<72} {'runs':>6} {'places':>5} {'wrong':>4} {'time':>6}")
    outcomes = [run(operation, given, injector) for operation in chosen]
    wrong = sum(broken for _, broken in outcomes)
    print(f"{sum(runs for runs, _ in outcomes):,} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

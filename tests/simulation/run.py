"""Deterministic simulation: ``python tests/simulation/run.py [--seed N] [--runs N] [--seconds S] [--exhaustive]``.

The unchanged controller runs under a scheduler. It decides at every lock of the line and the gates and at every native
call which thread runs, when calls fail and hang, and when the subsystem restarts. After every step that changes
anything, an independent specification is compared with the simulated HTP. A failure prints its seed. ``--seed N`` alone
replays that run, makes it smaller, and prints what happened in it. The exit code is 1 if a rule was broken.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets must not differ between processes.
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})
    # Import the controller of this checkout, even if another one is installed.
    sys.path[:1] = [str(Path(__file__).resolve().parents[up]) for up in (2, 1)]

from simulation.binding import remember
from simulation.choices import Random, Replayed
from simulation.program import Share, draw
from simulation.sequences import LEARNING, PLAIN, count_up_to, sequence
from simulation.shrink import Failing, show
from simulation.simulate import Result, simulate, warm_up
from simulation.small_cases import run_exhaustive

if TYPE_CHECKING:
    from collections.abc import Callable

Number = TypeVar("Number", int, float)
NO_LIMIT = 1 << 62


def run_seed(seed: int, given: argparse.Namespace) -> tuple[Failing | None, Result]:
    """Run the program of a seed, or the sequence of that number."""
    if given.sequences:
        result = simulate(program := sequence(seed, given.things), Replayed(()))
    else:
        program = draw(f"program {seed}", restarts=given.restarts, learning=given.learning, varied=given.varied)
        result = simulate(program, Random(f"choices {seed}"))
    failing = None if result.violation is None else Failing(program, result.made, result.violation.rule)
    return failing, result


def run_random(given: argparse.Namespace) -> int:
    """Run random programs, from a seed on, until the runs or seconds are over; return how many runs failed."""
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    begun_s = time.monotonic()
    runs = steps = calls = 0
    broken: dict[str, list[tuple[int, int, Failing]]] = collections.defaultdict(list)
    while runs < given.runs and time.monotonic() - begun_s < given.seconds and not (broken and given.first):
        failing, result = run_seed(seed + runs, given)
        steps, calls = steps + result.steps, calls + result.calls
        if failing is not None:
            if failing.rule not in broken:
                print(f"BROKEN seed {seed + runs}: {result.violation}", flush=True)
            broken[failing.rule].append((len(str(failing.program)), seed + runs, failing))
        runs += 1
    elapsed_s = time.monotonic() - begun_s
    print(
        f"{runs:,} runs, {steps:,} steps, {calls:,} native calls in {elapsed_s:.1f} s: "
        f"{steps / elapsed_s:,.0f} steps a second"
    )
    for rule, found in sorted(broken.items()):
        found.sort(key=lambda one: one[:2])
        print(f"{len(found):>6} {rule}: seeds {', '.join(str(seed) for _, seed, _ in found[:8])}")
    for _, found in sorted(broken.items()) if given.shrink else ():
        print()
        show(found[0][2], seconds=given.shrink)
    print("broken" if broken else "nothing broke")
    return sum(map(len, broken.values()))


def replay(given: argparse.Namespace) -> int:
    """Run the program of a seed twice; return whether it failed."""
    failing, result = run_seed(given.seed, given)
    again = run_seed(given.seed, given)[1]
    alike = (result.steps, result.calls, result.made) == (again.steps, again.calls, again.made)
    print(
        f"seed {given.seed}: {result.steps:,} steps, {result.calls} native calls"
        f"{'' if alike else ', NOT THE SAME AGAIN'}"
    )
    if failing is not None:
        show(failing, seconds=given.shrink or 20.0)
    print("nothing broke" if failing is None and alike else "broken")
    return int(failing is not None or not alike)


def _above(kind: type[Number], bound: int = 0) -> Callable[[str], Number]:
    """Return a function that reads a number, and refuses one that is not above a bound."""

    def read(text: str) -> Number:
        number = kind(text)
        if number <= bound:
            raise argparse.ArgumentTypeError(f"{text} is not above {bound}")
        return number

    return read


def main() -> int:
    """Run the simulation from the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description="Simulate the vote controller deterministically.")
    say, shares = parser.add_argument, ", ".join(each.value for each in Share)
    say("--seed", type=int, help="the first seed; without other options that run is replayed and shown")
    say("--runs", type=_above(int), help="the most runs at random; no limit by default")
    say("--seconds", type=_above(float), help="the time; 60 by default, without limit if runs are given")
    say("--exhaustive", action="store_true", help="every order of the small cases")
    say("--sequences", type=_above(int), help="every sequence of up to so many things, numbered by --seed")
    say("--preemptions", type=_above(int, -1), default=2, help="the most in an order; 2 by default")
    say("--slow", type=_above(int, -1), default=1, help="the most preemptions at which time moves; 1 by default")
    say("--whole", action="store_true", help="fail if a case could not be run in every order in time")
    say("--large", action="store_true", help="also the larger small cases")
    say("--case", default="", help="only the small cases with this text in their names")
    say("--jobs", type=int, default=1, help="processes for --exhaustive; 1 by default")
    say("--shrink", type=float, default=0.0, help="seconds for making each failure smaller; 0 shows none")
    say("--first", action="store_true", help="end with the first failure")
    say("--learning", type=Share, default=Share.SOME, help=f"{shares}: adaptive times and hints; some by default")
    say("--varied", type=Share, default=Share.NEVER, help=f"{shares}: tickets, two controllers; never by default")
    say("--no-restarts", dest="restarts", action="store_false", help="no restart of the subsystem")
    given = parser.parse_args()
    given.slow = min(given.slow, given.preemptions)
    limits = [given.runs, given.seconds]
    alone = given.seed is not None and limits == [None] * 2 and not given.exhaustive
    if given.sequences:
        given.seed = given.seed or 0
        given.things = LEARNING if given.learning is Share.ALWAYS else PLAIN
        count = count_up_to(given.sequences, given.things)
        limits.append(count)
        given.runs = min(given.runs or NO_LIMIT, count - given.seed)
    given.seconds = given.seconds or (60.0 if limits == [None] * 2 else 1e9)
    given.runs = given.runs or NO_LIMIT
    remember()
    warm_up()
    run = run_exhaustive if given.exhaustive else replay if alone else run_random
    try:
        return 1 if run(given) else 0
    except LookupError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())

"""Deterministic simulation: ``python tests/simulation/run.py [--seed N] [--steps M] [--seconds S] [--exhaustive]``.

The controller, unchanged, under a scheduler that decides at every lock, queue, alarm and native call who goes on, and
when calls fail, hang, and the subsystem restarts. After every step that changes anything an independent specification
is compared with the simulated HTP. A failure prints its seed; ``--seed N`` alone replays that run, makes it smaller,
and prints what happened in it. The exit code is 1 where something broke.
"""

from __future__ import annotations

import argparse
import collections
import math
import multiprocessing
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets must not change from process to process.
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})
    # The controller of this checkout, whatever is installed.
    sys.path[:1] = [str(Path(__file__).resolve().parents[up]) for up in (2, 1)]

import attrs
from simulation import binding

# Before anything imports the controller: it is to import the stand-ins, and its statements are to be points.
binding.bind(points=not {"--exhaustive", "--sequences"} & set(sys.argv))

from simulation.backend import Fault  # noqa: E402 - see above
from simulation.choices import Random, Replayed  # noqa: E402
from simulation.complete import Record  # noqa: E402
from simulation.exhaustive import explore  # noqa: E402
from simulation.program import Share, draw  # noqa: E402
from simulation.sequences import LEARNING, PLAIN, Things, count_up_to, sequence  # noqa: E402
from simulation.shrink import Failing, shrink  # noqa: E402
from simulation.simulate import Result, simulate, warm_up  # noqa: E402
from simulation.situation import Promises  # noqa: E402
from simulation.small_cases import cases  # noqa: E402
from simulation.variation import vary  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.choices import Choices

Number = TypeVar("Number", int, float)
MOST_SHOWN = 120


def _things(given: argparse.Namespace) -> Things:
    """Return what sequences are made of."""
    return LEARNING if given.learning is Share.ALWAYS else PLAIN


def run_seed(seed: int, given: argparse.Namespace, promises: Promises) -> tuple[Failing | None, Result]:
    """Run what a seed says, or the sequence of that number."""
    choices: Choices = Replayed(())
    if given.sequences:
        program = sequence(seed, _things(given))
        if given.failing_call:
            program = attrs.evolve(program, faults={given.failing_call: Fault(13006, applied=1)})
    else:
        program = draw(f"program {seed}", interrupts=given.interrupts, restarts=given.restarts, learning=given.learning)
        program = vary(
            program,
            f"program {seed}",
            given.varied,
            interrupts=given.interrupts,
            restarts=given.restarts,
            learning=given.learning is not Share.NEVER,
        )
        choices = Random(f"choices {seed}")
    result = simulate(program, choices, promises)
    failing = None if result.violation is None else Failing(program, result.made, result.violation.rule)
    return failing, result


def show(failing: Failing, promises: Promises, *, seconds: float, coarse: bool = False) -> None:
    """Make a failing run smaller, and print what happens in it."""
    smaller = shrink(failing, lambda program, choices: simulate(program, choices, promises, coarse=coarse), seconds)
    result = simulate(smaller.program, Replayed(smaller.made), promises, coarse=coarse, traced=True)
    program = smaller.program
    print(f"sessions on cores {program.cores} with {program.profiles}; raises {program.raises}; fine {program.fine}")
    if program.others or program.closers > 1:
        print(f"of a second controller {sorted(program.others)}; closed by {program.closers} threads")
    for number, thread in enumerate(program.threads):
        print(f"thread {number}: {'; '.join(map(str, thread))}")
    for number, fault in sorted(program.faults.items()):
        print(f"call {number}: {fault}")
    print(f"choices {[tuple(each) for each in smaller.made]}")
    print("\n".join(result.trace[-MOST_SHOWN:]))
    print(f"BROKEN {result.violation}")


def run_random(given: argparse.Namespace, promises: Promises) -> int:
    """Run at random, from a seed on, until the runs, steps or seconds are over; return how many runs failed."""
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    begun_s = time.monotonic()
    runs = steps = calls = 0
    broken: dict[str, list[tuple[int, int, Failing]]] = collections.defaultdict(list)
    while runs < given.runs and steps < given.steps and time.monotonic() - begun_s < given.seconds:
        failing, result = run_seed(seed + runs, given, promises)
        steps, calls = steps + result.steps, calls + result.calls
        if failing is not None and not failing.rule.startswith(tuple(given.known)):
            assert result.violation is not None
            if failing.rule not in broken:
                print(f"BROKEN seed {seed + runs}: {result.violation}", flush=True)
            broken[failing.rule].append((failing.program.size, seed + runs, failing))
            if given.first:
                runs += 1
                break
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
        show(found[0][2], promises, seconds=given.shrink)
    print("broken" if broken else "nothing broke")
    return sum(map(len, broken.values()))


def run_exhaustive(given: argparse.Namespace, promises: Promises) -> int:
    """Run every small case in every order; return how many failed, with ``--whole`` also those not complete."""
    binding.remember()
    begun_s = time.monotonic()
    broken = runs = steps = complete = 0
    record = Record(given.record, given.preemptions, given.slow)
    named = [case for case in cases() if given.case in case.name and (given.large or not case.large)]
    if not named:
        raise LookupError(f"no small case has {given.case!r} in its name")
    chosen = [case for case in named if case.name not in record.complete]
    if len(chosen) < len(named):
        print(f"{len(named) - len(chosen)} of {len(named)} cases are recorded as complete")
    look = partial(
        explore,
        promises=promises,
        most_preemptions=given.preemptions,
        most_slow=given.slow,
        end_s=time.monotonic() + given.seconds,
        most_s=given.case_seconds,
    )
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("fork")) as processes:
        looked = {processes.submit(look, case.program): case for case in chosen}
        for done in as_completed(looked):
            case, explored = looked[done], done.result()
            runs, steps, complete = runs + explored.runs, steps + explored.steps, complete + explored.complete
            print(f"{explored.runs:>8,} orders  {'' if explored.complete else 'not all '}{case.name}", flush=True)
            if explored.complete:
                record.add(case.name, explored.runs)
            if explored.failed is not None:
                broken += not explored.failed.rule.startswith(tuple(given.known))
                print(f"BROKEN {explored.broken}")
                if given.shrink:
                    show(explored.failed, promises, seconds=given.shrink, coarse=True)
    complete += len(named) - len(chosen)
    print(
        f"{complete} of {len(named)} cases in every order with at most {given.preemptions} preemptions, "
        f"at most {given.slow} of them slow: {runs:,} orders, {steps:,} steps, {broken} broken, "
        f"{time.monotonic() - begun_s:.0f} s"
    )
    print("broken" if broken else "nothing broke")
    if given.whole and complete < len(named):
        print("not complete")
        return broken + len(named) - complete
    return broken


def replay(given: argparse.Namespace, promises: Promises) -> int:
    """Run what one seed says, twice; return whether it failed."""
    failing, result = run_seed(given.seed, given, promises)
    again = run_seed(given.seed, given, promises)[1]
    alike = (result.steps, result.calls, result.made) == (again.steps, again.calls, again.made)
    print(
        f"seed {given.seed}: {result.steps:,} steps, {result.calls} native calls"
        f"{'' if alike else ', NOT THE SAME AGAIN'}"
    )
    if failing is not None:
        show(failing, promises, seconds=given.shrink or 20.0)
    print("nothing broke" if failing is None and alike else "broken")
    return int(failing is not None or not alike)


def _above(kind: type[Number], bound: int = 0) -> Callable[[str], Number]:
    """Return what reads a number above a bound."""

    def read(text: str) -> Number:
        number = kind(text)
        if number <= bound:
            raise argparse.ArgumentTypeError(f"{text} is not above {bound}")
        return number

    return read


def _share(text: str) -> Share:
    """Read in how many programs something is drawn."""
    if text not in {each.value for each in Share}:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(each.value for each in Share)}")
    return Share(text)


def main() -> int:
    """Run it from the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description="Simulate the vote controller deterministically.")
    parser.add_argument("--seed", type=int, default=None, help="the first run's; alone, that run is replayed and shown")
    parser.add_argument(
        "--steps", type=_above(int), default=None, help="how many at least, at random; no limit unless told"
    )
    parser.add_argument(
        "--runs", type=_above(int), default=None, help="how many at most, at random; no limit unless told"
    )
    parser.add_argument(
        "--seconds", type=_above(float), default=None, help="how long; 60 unless told or runs or steps are"
    )
    parser.add_argument("--exhaustive", action="store_true", help="every order of the small cases")
    parser.add_argument(
        "--sequences",
        type=_above(int),
        default=None,
        help="every sequence of up to so many things, numbered by --seed",
    )
    parser.add_argument(
        "--failing-call", type=int, default=0, help="of a sequence, the native call that fails; none unless told"
    )
    parser.add_argument("--preemptions", type=_above(int, -1), default=2, help="of an order, at most; 2 unless told")
    parser.add_argument("--slow", type=_above(int, -1), default=1, help="at how many time moves on; 1 unless told")
    parser.add_argument(
        "--whole", action="store_true", help="fail where a case could not be run in every order in time"
    )
    parser.add_argument("--large", action="store_true", help="with --exhaustive, the larger cases, too")
    parser.add_argument("--case", default="", help="only the small cases with this in their names")
    parser.add_argument(
        "--record",
        type=Path,
        default=None,
        help="a file that keeps which small cases are complete; those are left out while the code stays the same",
    )
    parser.add_argument(
        "--case-seconds", type=float, default=math.inf, help="how long a small case may take; no limit unless told"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes for --exhaustive; 1 unless told")
    parser.add_argument(
        "--shrink", type=float, default=0.0, help="seconds for making each failure smaller; 0 shows none"
    )
    parser.add_argument("--first", action="store_true", help="end with the first failure")
    parser.add_argument("--no-interrupts", dest="interrupts", action="store_false", help="draw no KeyboardInterrupt")
    parser.add_argument(
        "--learning",
        type=_share,
        default=Share.SOME,
        help="never, some or always; in some runs unless told, and in sequences with always alone",
    )
    parser.add_argument(
        "--varied",
        type=_share,
        default=Share.NEVER,
        help="never, some or always: tickets, idle streams, overlapping phases, closes by two, a second controller",
    )
    parser.add_argument("--no-restarts", dest="restarts", action="store_false", help="draw no restart of the subsystem")
    parser.add_argument("--known", action="append", default=[], help="a rule, or its beginning, that may be broken")
    given = parser.parse_args()
    given.slow = min(given.slow, given.preemptions)
    promises = Promises()
    limits = [given.runs, given.steps, given.seconds]
    alone = given.seed is not None and limits == [None] * 3 and not given.exhaustive
    if given.sequences:
        binding.remember()
        given.seed = given.seed or 0
        count = count_up_to(given.sequences, _things(given))
        limits.append(count)
        given.runs = min(given.runs or 1 << 62, count - given.seed)
    given.seconds = given.seconds or (60.0 if limits == [None] * 3 else 1e9)
    given.runs = given.runs or 1 << 62
    given.steps = given.steps or 1 << 62
    warm_up()
    run = run_exhaustive if given.exhaustive else replay if alone else run_random
    try:
        return 1 if run(given, promises) else 0
    except LookupError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())

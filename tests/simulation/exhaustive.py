"""Small cases, run in every order with at most N preemptions: ``python tests/simulation/run.py --exhaustive``.

An order is a sequence of the operations on the locks of the line and of the gates, on the queues of the worker and the
alarms, and of native calls, while the window of the case is open. At each of these points another ready task may run,
which is a preemption. If the running task waits or ends, any ready task may run, which is not a preemption. In at most
``--slow`` of the preemptions time moves to the next alarm instead, and never to the one after it.

Not tried are switches between two points, switches before a wait for another task (``locks`` says why), two more calls
in a thread, and what happens before the window opens and after it closes: the run of that part has one order.
"""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING

import attrs
from simulation.choices import every_order
from simulation.shrink import Failing, show
from simulation.simulate import simulate
from simulation.small_cases import cases

if TYPE_CHECKING:
    import argparse

    from simulation.program import Program


@attrs.frozen
class Explored:
    """The result of a small case.

    Attributes:
        runs, steps: how many there were.
        complete: whether every order was run.
        failed: the first failing run, and ``broken`` the rule that it breaks.
    """

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

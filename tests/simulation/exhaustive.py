"""Small cases, run in every order of steps in which at most so many tasks are made to wait that could go on.

An order is a sequence of what tasks do to the line's and the gates' locks and to native calls while the case's window
is open. Of the tasks that are made to wait at most so many are slow: time moves on to the next alarm before they go on,
and never to the one after that. What comes before and after runs in one order.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs
from simulation.choices import every_order
from simulation.shrink import Failing
from simulation.simulate import simulate

if TYPE_CHECKING:
    from simulation.program import Program


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


def explore(program: Program, most_preemptions: int, most_slow: int, end_s: float) -> Explored:
    """Run a program in every order, until one fails or the time is over.

    Args:
        program: the program.
        most_preemptions: how many times a task that could go on may be made to wait.
        most_slow: in how many of these it may be so slow that time moves on to the next alarm.
        end_s: when to give up, by the monotonic clock.
    """
    runs = steps = 0
    for choices in every_order(most_preemptions, most_slow):
        if time.monotonic() > end_s:
            return Explored(runs, steps, complete=False)
        result = simulate(program, choices, small=True)
        runs += 1
        steps += result.steps
        if result.violation is not None:
            failing = Failing(program, result.made, result.violation.rule)
            return Explored(runs, steps, complete=False, failed=failing, broken=str(result.violation))
    return Explored(runs, steps, complete=True)

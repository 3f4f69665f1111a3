"""The orders of steps of the simulation: every one comes, once, and none that has too many preemptions."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

pytest.importorskip("greenlet")

from simulation.choices import Replayed, every_order
from simulation.locks import Lock
from simulation.scheduler import Scheduler


def _orders(steps: dict[str, int], most: int) -> list[str]:
    """Return in which orders tasks make their steps, each a point."""
    found = []
    for choices in every_order(most):
        scheduler = Scheduler(choices, coarse=True)
        made: list[str] = []

        def run(scheduler: Scheduler, made: list[str], name: str, count: int) -> None:
            for _ in range(count):
                made.append(name)
                scheduler.point()

        for name, count in steps.items():
            scheduler.spawn(name, partial(run, scheduler, made, name, count))
        scheduler.run()
        found.append("".join(made))
    return found


def _preemptions(order: str, steps: dict[str, int]) -> int:
    """Return how often a task that had steps left was made to wait."""
    left = dict(steps)
    count = 0
    for place, name in enumerate(order):
        left[name] -= 1
        count += left[name] > 0 and order[place + 1] != name
    return count


@pytest.mark.parametrize("most", [0, 1, 2])
def test_every_order_comes(most: int) -> None:
    """Of all orders of three tasks' steps, those with at most so many preemptions come, and no other."""
    steps = {"a": 2, "b": 2, "c": 2}
    every = {"".join(each) for each in itertools.permutations("aabbcc")}
    expected = {each for each in every if _preemptions(each, steps) <= most}
    assert set(_orders(steps, most)) == expected


def test_no_order_comes_in_which_a_lock_is_held_twice() -> None:
    """A task that waits for a lock goes on when it is given back: of two that take it, each may be first."""
    found = set()
    for choices in every_order(2):
        scheduler = Scheduler(choices, coarse=True)
        lock = Lock(scheduler, "a lock")
        made: list[str] = []

        def run(scheduler: Scheduler, lock: Lock, made: list[str], name: str) -> None:
            with lock:
                made.append(f"{name}(")
                scheduler.point()
                made.append(")")

        for name in "ab":
            scheduler.spawn(name, partial(run, scheduler, lock, made, name))
        scheduler.run()
        found.add("".join(made))
    assert found == {"a()b()", "b()a()"}


def test_a_task_that_calls_itself_for_ever_is_a_failure_of_the_run() -> None:
    """A RecursionError whose text can't be made any more ends the run, and not the simulation."""

    class EndlessError(RecursionError):
        def __repr__(self) -> str:
            raise RecursionError

    def run() -> None:
        raise EndlessError

    scheduler = Scheduler(Replayed(()))
    scheduler.spawn("deep", run)
    scheduler.run()
    assert scheduler.failure is not None
    assert scheduler.failure.details == "deep: EndlessError"


def test_what_is_queued_begins_in_its_order() -> None:
    """Without a preemption no task that is queued comes before one that was queued earlier; with one, it may."""

    def orders(most: int) -> set[str]:
        found: set[str] = set()
        for choices in every_order(most):
            scheduler = Scheduler(choices, coarse=True)
            begun: list[str] = []
            for name in "abc":
                scheduler.spawn(name, partial(begun.append, name), queued=True)
            scheduler.run()
            found.add("".join(begun))
        return found

    assert orders(0) == {"abc"}
    assert orders(1) == {"abc", "acb", "bac", "bca"}

"""The reduction of the simulation's orders: it leaves out no end that any order has."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("greenlet")

from simulation.accesses import READ, WRITTEN, note, touch
from simulation.choices import Replayed, every_order
from simulation.locks import Lock, SimpleQueue
from simulation.reduction import Guided, Known, reduced_orders
from simulation.scheduler import Scheduler

if TYPE_CHECKING:
    from simulation.choices import Choices

# What a task does: take one of two locks for the rest, read or add to one of three counts, put something in a queue, or
# let another task do the rest, at once or after those that wait for that already.
Action = tuple[str, int]
Ends = set[tuple[object, ...]]
# Which programs are drawn, by the number of preemptions. With two, that of seed 0 has 22,000 orders, and these have
# 2,000 together.
SEEDS = (range(40), range(20), (*range(1, 5), 6, 7, 8, 13))


def _draw(seed: int) -> list[list[Action]]:
    chance = random.Random(seed)
    kinds = [("read", 3), ("add", 3), ("lock", 2), ("put", 1), ("spawn", 1), ("queue", 1)]
    names, weights = [kind for kind, _ in kinds], [3, 3, 2, 1, 1, 2]
    return [
        [(name, chance.randrange(dict(kinds)[name])) for name in chance.choices(names, weights, k=chance.randint(2, 4))]
        for _ in range(chance.randint(2, 3))
    ]


def _end(  # noqa: C901 - a case for each kind of action
    program: list[list[Action]], choices: Choices
) -> tuple[object, ...] | None:
    """Run a program; return what each task has read and what the counts are in the end, None where that is known."""
    scheduler = Scheduler(choices, coarse=True)
    if isinstance(choices, Guided):
        choices.follow(scheduler)
    counts = [0, 0, 0]
    seen: dict[str, list[int]] = {}
    locks = [Lock(scheduler, f"{number}") for number in range(2)]
    items = SimpleQueue(scheduler)

    def act(name: str, actions: list[Action]) -> None:
        read = seen.setdefault(name, [])
        for place, (what, number) in enumerate(actions):
            if what == "lock":
                with locks[number]:
                    act(f"{name} {place}", actions[place + 1 :])
                return
            scheduler.point()
            if what == "put":
                items.put(name)
            elif what in ("spawn", "queue"):
                rest = partial(act, f"{name} {place}", actions[place + 1 :])
                scheduler.spawn(name, rest, queued=what == "queue")
                return
            else:
                touch(("count", number), READ if what == "read" else WRITTEN)
                read.append(counts[number])
                counts[number] += what == "add"

    def run() -> None:
        for number, actions in enumerate(program):
            scheduler.spawn(f"{number}", partial(act, f"{number}", actions))

    scheduler.spawn("all", run)
    try:
        scheduler.run()
    except Known:
        pass
    finally:
        note(None)
    if isinstance(scheduler.failure, Known):
        return None
    failure = scheduler.failure and scheduler.failure.rule
    return failure, tuple(counts), repr(sorted(seen.items())), tuple(items._items)


def _every(program: list[list[Action]], most: int) -> tuple[Ends, int]:
    ends: Ends = set()
    runs = 0
    for choices in every_order(most):
        end = _end(program, choices)
        assert end is not None
        ends.add(end)
        runs += 1
    return ends, runs


def _reduced(program: list[list[Action]], most: int) -> tuple[Ends, int]:
    ends: Ends = set()
    runs = 0
    for choices in reduced_orders(most):
        end = _end(program, choices)
        if end is not None:
            ends.add(end)
            runs += 1
    return ends, runs


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_end_is_left_out(most: int) -> None:
    """Programs drawn at random end in the same ways in the orders that are run to their end as in all."""
    all_runs = few_runs = 0
    for seed in SEEDS[most]:
        program = _draw(seed)
        ends, runs = _every(program, most)
        found, few = _reduced(program, most)
        assert found == ends, program
        all_runs, few_runs = all_runs + runs, few_runs + few
    assert few_runs < 0.9 * all_runs


def test_what_is_not_noted_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above sees it where a step does not say what it touches."""
    program = [[("add", 0), ("read", 0)], [("add", 0), ("read", 0)]]
    ends, _ = _every(program, 2)
    monkeypatch.setitem(globals(), "touch", lambda *_: None)
    found, _ = _reduced(program, 2)
    assert found < ends


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

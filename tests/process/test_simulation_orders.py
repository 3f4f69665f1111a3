"""The orders of steps of the simulation: every one comes, once, and none that has too many preemptions."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

import pytest

pytest.importorskip("greenlet")

from simulation.choices import Decision, Enumerated, Replayed, every_order
from simulation.locks import Lock
from simulation.program import every_op
from simulation.scheduler import Scheduler
from simulation.sequences import LEARNING, PLAIN, Things, count_up_to, sequence
from simulation.small_cases import cases
from simulation.virtual import SimulatedWorker
from simulation.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def _pass(scheduler: Scheduler, points: int) -> None:
    for _ in range(points):
        scheduler.point()


def _preemptions(order: str, steps: dict[str, int]) -> int:
    """Return how often a task that had steps left was made to wait."""
    left = dict(steps)
    count = 0
    for place, name in enumerate(order):
        left[name] -= 1
        count += left[name] > 0 and order[place + 1] != name
    return count


class _Counted:
    """Choices, with a count of how often they are asked for at a point of a task that could go on."""

    def __init__(self, choices: Enumerated) -> None:
        self._choices = choices
        self.made = choices.made
        self.asked = 0

    @property
    def next_step(self) -> int:
        return self._choices.next_step

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        self.asked += not forced
        return self._choices.pick(step, ready, clock=clock, forced=forced)


def test_a_known_beginning_is_asked_for_only_where_a_task_is_made_to_wait() -> None:
    """Of the orders of two tasks of 50 points, the first of those with either task first is asked for at each point."""
    asked = []
    for choices in every_order(1):
        counted = _Counted(choices)
        scheduler = Scheduler(counted, coarse=True)
        for name in "ab":
            scheduler.spawn(name, partial(_pass, scheduler, 50))
        scheduler.run()
        asked.append(counted.asked)
    assert sorted(asked, reverse=True) == [50, 50] + 100 * [1]


def test_another_course_with_the_same_beginning_is_told() -> None:
    """A program that does not do the same again can't be run in every order: that is an error, and no order less."""
    orders = every_order(1)
    first = next(orders)
    assert first.pick(1, 1, clock=False, forced=False) == 0
    second = next(orders)
    with pytest.raises(RuntimeError, match="another order"):
        second.pick(1, 2, clock=False, forced=False)
    third = Enumerated([Decision(5, 0, 1, 2)], 1)
    with pytest.raises(RuntimeError, match="another order"):
        third.pick(3, 1, clock=False, forced=False)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_every_order_comes(most: int) -> None:
    """Of all orders of three tasks' steps, those with at most so many preemptions come, and no other."""
    steps = {"a": 2, "b": 2, "c": 2}
    every = {"".join(each) for each in itertools.permutations("aabbcc")}
    expected = {each for each in every if _preemptions(each, steps) <= most}
    assert set(_orders(steps, most)) == expected


@pytest.mark.parametrize(("most", "most_slow"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, None), (3, 1), (3, 2)])
def test_every_order_comes_once_in_which_time_moves_on_so_often(most: int, most_slow: int | None) -> None:
    """Of two tasks and three alarms: those that keep to both bounds, and no other."""
    found = set()
    picks = []
    for choices in every_order(most, most_slow):
        scheduler = Scheduler(choices, coarse=True)
        made: list[str] = []
        for time_us in (1, 2, 3):
            scheduler.call_at(time_us, partial(made.append, "!"))

        def run(scheduler: Scheduler, made: list[str], name: str) -> None:
            for _ in range(2):
                made.append(name)
                scheduler.point()

        for name in "ab":
            scheduler.spawn(name, partial(run, scheduler, made, name))
        scheduler.run()
        found.add("".join(made))
        picks.append(tuple(choices.made))
    slowest = most if most_slow is None else most_slow
    assert found == {order for order, waits, slow in _with_alarms("aabb") if waits <= most and slow <= min(3, slowest)}
    assert len(set(picks)) == len(picks)


def _with_alarms(steps: str) -> Iterator[tuple[str, int, int]]:
    """Yield every order of steps with an alarm or none after each, how many tasks wait in it, and how many are slow."""
    for order in set(itertools.permutations(steps)):
        for marks in itertools.product(("", "!"), repeat=len(order)):
            slow = sum(map(bool, marks))
            changes = sum(
                not mark and after != name and name in order[place + 1 :]
                for place, (name, after, mark) in enumerate(zip(order, order[1:], marks, strict=False))
            )
            yield "".join(itertools.chain.from_iterable(zip(order, marks, strict=True))), slow + changes, slow


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


def test_a_worker_that_starts_late_changes_no_beginning() -> None:
    """A worker that starts on the way goes on at the next point in each order, so that no order comes twice."""
    made = []
    for choices in every_order(2):
        scheduler = Scheduler(choices, coarse=True)
        worker = SimulatedWorker(scheduler, "worker")

        def run(scheduler: Scheduler, worker: SimulatedWorker) -> None:
            _pass(scheduler, 3)
            worker.post(worker.start)
            _pass(scheduler, 3)

        for name in "ab":
            scheduler.spawn(name, partial(run, scheduler, worker))
        scheduler.run()
        made.append(tuple(choices.made))
    assert len(set(made)) == len(made) > 50


def test_a_beginning_that_does_not_come_is_told() -> None:
    """A run that has ended before the last decision with which it was to begin is an error, and no order."""
    choices = Enumerated([Decision(5, 0, 1, 2)], 1)
    with pytest.raises(RuntimeError, match="came"):
        choices.following()


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


@pytest.mark.parametrize("things", [PLAIN, LEARNING])
def test_sequences_are_numbered_without_a_gap(things: Things) -> None:
    """Each is another, a longer one has a higher number, and there are as many as are counted."""
    made = [sequence(number, things) for number in range(count_up_to(2, things))]
    assert len({(program.profiles, program.threads) for program in made}) == len(made)
    lengths = [len(program.threads[0]) for program in made]
    assert lengths == sorted(lengths)
    assert set(lengths) == {1, 2}
    assert len(sequence(count_up_to(2, things), things).threads[0]) == 3


def test_only_what_is_within_the_window_has_several_orders() -> None:
    """Before it opens and after it closes threads do in one order what they do; a thread may enter it at its end."""
    found = set()
    for choices in every_order(1):
        scheduler = Scheduler(choices, coarse=True)
        scheduler.let_choose(False)
        made: list[str] = []
        backend = mock.Mock(count_faults=partial(made.append, "|"))
        window = Window(scheduler, backend, threads=2)

        def run(scheduler: Scheduler, window: Window, made: list[str], name: str) -> None:
            for when in ("before", "within", "after"):
                for _ in range(2):
                    made.append(name)
                    scheduler.point()
                window.enter() if when == "before" else window.leave()

        for name in "ab":
            scheduler.spawn(name, partial(run, scheduler, window, made, name))
        watcher = scheduler.spawn("watches", window.watch)
        watcher.last = True
        scheduler.run()
        assert scheduler.failure is None
        found.add("".join(made))
    steps = {"a": 2, "b": 2}
    every = {"".join(each) for each in itertools.permutations("aabb")}
    assert found == {f"aabb|{each}aabb" for each in every if _preemptions(each, steps) <= 1}


def test_small_cases_are_small() -> None:
    """Each has two threads with a window, two sessions, in one case three, and one fault at most; none comes twice."""
    every = list(cases())
    assert len({case.name for case in every}) == len({str(case.program) for case in every}) == len(every)
    for case in every:
        program = case.program
        kinds = [[op.kind for op in every_op(thread)] for thread in program.threads]
        third = "beside an inference" in case.name
        assert (len(program.cores), len(kinds)) == (2 + third, 2), case.name
        assert all(each.count("enter") + each.count("leave") <= 1 + third for each in kinds), case.name
        fates = sum(each.count(fate) for each in kinds for fate in ("restart", "forget", "die"))
        assert fates + len(program.faults) <= 1, case.name

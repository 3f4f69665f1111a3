"""The scheduler of the simulation: it finds planted mistakes, replays exactly, and describes its findings."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

import pytest

pytest.importorskip("greenlet")

from simulation.choices import Enumerated, Made, Random, Replayed, every_order
from simulation.scheduler import Scheduler
from simulation.simulate import Window
from simulation.tasks import Collected, Lock, SimpleQueue, Violation

if TYPE_CHECKING:
    from simulation.choices import Choices

# A plant starts tasks, and returns a check for the end.
Plant = Callable[[Scheduler], Callable[[], None]]

SEEDS = range(200)


def _run(plant: Plant, choices: Choices) -> Scheduler:
    """Run a plant, and its check at the end."""
    scheduler = Scheduler(choices)
    check = plant(scheduler)
    scheduler.run()
    if scheduler.failure is None:
        try:
            check()
        except Violation as violation:
            scheduler.failure = violation
    return scheduler


def _nothing() -> None:
    """Check nothing."""


def _lost_update(scheduler: Scheduler) -> Callable[[], None]:
    """Plant two tasks that add one to a count, each with a point between reading and writing."""
    count = 0

    def add() -> None:
        nonlocal count
        read = count
        scheduler.point()
        count = read + 1

    def check() -> None:
        if count != 2:
            raise Violation("every update counts", f"{count}")

    for number in range(2):
        scheduler.spawn(f"adds {number}", add)
    return check


def _opposite_orders(scheduler: Scheduler) -> Callable[[], None]:
    """Plant two tasks that take two gates in opposite orders."""
    first, second = (Lock(scheduler, name, reentrant=True) for name in ("first", "second"))

    def take(outer: Lock, inner: Lock) -> None:
        with outer, inner:
            pass

    scheduler.spawn("one", lambda: take(first, second))
    scheduler.spawn("other", lambda: take(second, first))
    return _nothing


def _circle(scheduler: Scheduler) -> Callable[[], None]:
    """Plant a task that waits in a loop for a change that no task makes."""

    def look() -> None:
        while True:
            scheduler.point()

    scheduler.spawn("looks", look)
    return _nothing


PLANTED: dict[Plant, str] = {_lost_update: "every update counts", _opposite_orders: "no deadlock"}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_is_planted_is_found_at_random(plant: Plant) -> None:
    """Some seeds find the mistake, and others don't."""
    found = [_run(plant, Random(str(seed))).failure for seed in SEEDS]
    assert {None if failure is None else failure.rule for failure in found} == {None, PLANTED[plant]}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_is_planted_is_found_with_one_preemption(plant: Plant) -> None:
    """Among the orders with one preemption some find it; without a preemption, none does."""
    for most, expected in ((0, {None}), (1, {None, PLANTED[plant]})):
        failures = [_run(plant, choices).failure for choices in every_order(most)]
        assert {None if failure is None else failure.rule for failure in failures} == expected


def test_a_circle_is_found() -> None:
    """A task that runs for ever while time stands still is a livelock."""
    failure = _run(_circle, Replayed(())).failure
    assert failure is not None
    assert failure.rule == "no livelock"


def test_a_deadlock_says_which_task_waits_for_what() -> None:
    """The failure names each task, its awaited lock, and the task that holds the lock."""
    failures = [_run(_opposite_orders, Random(str(seed))).failure for seed in SEEDS]
    details = {failure.details for failure in failures if failure is not None}
    assert details == {
        "one waits for second, held by other, and holds first; other waits for first, held by one, and holds second"
    }


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_run_is_replayed_from_its_choices(plant: Plant) -> None:
    """A run's choices alone give the same steps and the same failure."""
    for seed in range(50):
        choices = Random(str(seed))
        first = _run(plant, choices)
        again = _run(plant, Replayed(choices.made))
        assert (first.steps, repr(first.failure)) == (again.steps, repr(again.failure))
    for order in every_order(2):
        first = _run(plant, order)
        again = _run(plant, Replayed(order.made))
        assert (first.steps, repr(first.failure)) == (again.steps, repr(again.failure))


def test_every_order_is_run_once() -> None:
    """Two tasks of three points, with one preemption at most: two orders to begin in, three places to preempt."""
    orders = []

    def plant(scheduler: Scheduler) -> Callable[[], None]:
        order: list[str] = []

        def step(name: str) -> None:
            for _ in range(3):
                order.append(name)
                scheduler.point()

        for name in "ab":
            scheduler.spawn(name, partial(step, name))
        return lambda: orders.append("".join(order))

    for choices in every_order(1):
        _run(plant, choices)
    expected = ["aaabbb", "abbbaa", "aabbba", "aaabbb", "bbbaaa", "baaabb", "bbaaab", "bbbaaa"]
    assert sorted(orders) == sorted(expected)


def test_time_moves_when_no_task_can_go_on() -> None:
    """Sleeping tasks wake in the order of their times, at those times."""
    seen = []

    def plant(scheduler: Scheduler) -> Callable[[], None]:
        def sleep(duration_us: int) -> None:
            scheduler.sleep(duration_us)
            seen.append((duration_us, scheduler.now_us))

        for duration_us in (300, 100, 200):
            scheduler.spawn(f"{duration_us}", partial(sleep, duration_us))
        return _nothing

    _run(plant, Replayed(()))
    assert seen == [(100, 100), (200, 200), (300, 300)]


def test_a_slow_task_lets_time_move_to_one_alarm() -> None:
    """With one preemption, one alarm may ring between two steps of a ready task, but not both alarms."""
    found = set()
    for choices in every_order(1):
        scheduler = Scheduler(choices)
        made: list[str] = []
        for time_us in (1, 2):
            scheduler.call_at(time_us, partial(made.append, "!"))

        def run(scheduler: Scheduler, made: list[str]) -> None:
            for _ in range(2):
                made.append("a")
                scheduler.point()

        scheduler.spawn("a", partial(run, scheduler, made))
        scheduler.run()
        found.add("".join(made))
    assert {"aa", "a!a"} <= found
    assert not any("!!a" in order for order in found)


def test_what_an_alarm_does_is_no_step_of_the_task_that_waits() -> None:
    """A waiting task is woken during an alarm, and runs once the alarm is done."""

    def plant(scheduler: Scheduler) -> Callable[[], None]:
        queue = SimpleQueue(scheduler)

        def put() -> None:
            for number in range(3):
                queue.put(number)

        def get() -> None:
            for number in range(3):
                assert (queue.get(), scheduler.now_us) == (number, 100)

        scheduler.call_at(100, put)
        scheduler.spawn("gets", get)
        return _nothing

    failures = [_run(plant, Random(str(seed))).failure for seed in SEEDS]
    assert failures == [None] * len(failures)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_lock_taken_by_the_collector_is_found() -> None:
    """A finalizer may put an item in a queue, but may not take a lock."""

    def plant(scheduler: Scheduler, *, locks: bool) -> Callable[[], None]:
        lock, queue = Lock(scheduler, "lock"), SimpleQueue(scheduler)

        def drop() -> None:
            scheduler.collect(Collected(lock.acquire if locks else lambda: queue.put(1)), 2)
            for _ in range(5):
                scheduler.point()
            assert locks or queue.get() == 1

        scheduler.spawn("drops", drop)
        return _nothing

    assert _run(lambda scheduler: plant(scheduler, locks=False), Replayed(())).failure is None
    failure = _run(lambda scheduler: plant(scheduler, locks=True), Replayed(())).failure
    assert failure is not None
    assert failure.rule == "a finalizer takes no lock"


def test_a_task_that_calls_itself_for_ever_is_a_failure_of_the_run() -> None:
    """A RecursionError without a text is a failure of the run, and the simulation goes on."""

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


def test_a_beginning_that_does_not_come_is_told() -> None:
    """A run that ends before its prescribed choices are used up raises an error."""
    choices = Enumerated([Made(5, 1, 2)], 1)
    with pytest.raises(RuntimeError, match="came"):
        choices.following()


def test_only_what_is_within_the_window_has_several_orders() -> None:
    """Outside the window threads run in one order; a thread that ends the window may be the next to run."""
    found = set()
    for choices in every_order(1):
        scheduler = Scheduler(choices)
        scheduler.let_choose(False)
        made: list[str] = []
        window = Window(scheduler, mock.Mock(count_faults=partial(made.append, "|")), threads=2)

        def run(scheduler: Scheduler, window: Window, made: list[str], name: str) -> None:
            for when in ("before", "within", "after"):
                for _ in range(2):
                    made.append(name)
                    scheduler.point()
                window.enter() if when == "before" else window.leave()

        for name in "ab":
            scheduler.spawn(name, partial(run, scheduler, window, made, name))
        scheduler.spawn("watches", window.watch, last=True)
        scheduler.run()
        assert scheduler.failure is None
        found.add("".join(made))
    every = {"".join(each) for each in itertools.permutations("aabb")}
    assert found == {f"aabb|{each}aabb" for each in every if each not in ("abab", "baba")}

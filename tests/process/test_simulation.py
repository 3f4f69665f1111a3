"""The scheduler of the simulation: it finds what is planted, replays exactly, and says what it has found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("greenlet")

from simulation.choices import Random, Replayed, every_order
from simulation.locks import Condition, Lock, SimpleQueue
from simulation.scheduler import Scheduler
from simulation.tasks import Violation

if TYPE_CHECKING:
    from simulation.choices import Choices

# It plants tasks, and returns what looks at them in the end.
Plant = Callable[[Scheduler], Callable[[], None]]

SEEDS = range(200)


def _run(plant: Plant, choices: Choices) -> Scheduler:
    """Run what is planted; what that returns is looked at in the end."""
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
    """Look at nothing."""


def _lost_update(scheduler: Scheduler) -> Callable[[], None]:
    """Two tasks that add one to a count, each with a point between reading and writing."""
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
    """Two tasks that take two locks in opposite orders."""
    first, second = Lock(scheduler, "first"), Lock(scheduler, "second")

    def take(outer: Lock, inner: Lock) -> None:
        with outer, inner:
            pass

    scheduler.spawn("one", lambda: take(first, second))
    scheduler.spawn("other", lambda: take(second, first))
    return _nothing


def _lost_wake_up(scheduler: Scheduler) -> Callable[[], None]:
    """A task that looks at a flag, lets go of the lock, and only then waits to be told of it."""
    condition = Condition(scheduler)
    done = False

    def wait() -> None:
        with condition:
            there = done
        if not there:
            with condition:
                condition.wait()

    def tell() -> None:
        nonlocal done
        with condition:
            done = True
            condition.notify_all()

    scheduler.spawn("waits", wait)
    scheduler.spawn("tells", tell)
    return _nothing


def _circle(scheduler: Scheduler) -> Callable[[], None]:
    """A task that looks again and again for what nobody will do."""

    def look() -> None:
        while True:
            scheduler.point()

    scheduler.spawn("looks", look)
    return _nothing


PLANTED: dict[Plant, str] = {
    _lost_update: "every update counts",
    _opposite_orders: "no deadlock",
    _lost_wake_up: "no deadlock",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_is_planted_is_found_at_random(plant: Plant) -> None:
    """Some seed finds it, and some does not: it depends on who goes on."""
    found = [_run(plant, Random(str(seed))).failure for seed in SEEDS]
    rules = {None if failure is None else failure.rule for failure in found}
    assert rules == {None, PLANTED[plant]}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_is_planted_is_found_with_one_preemption(plant: Plant) -> None:
    """Every order with one preemption has it among them; without a preemption there is none that has."""
    for most, expected in ((0, {None}), (1, {None, PLANTED[plant]})):
        failures = [_run(plant, choices).failure for choices in every_order(most)]
        assert {None if failure is None else failure.rule for failure in failures} == expected


def test_a_circle_is_found() -> None:
    """A task that goes on for ever while time stands still is a livelock."""
    failure = _run(_circle, Replayed(())).failure
    assert failure is not None
    assert failure.rule == "no livelock"


def test_a_deadlock_says_who_waits_for_what() -> None:
    """It names each task, the lock that it waits for, and who holds that."""
    failures = [_run(_opposite_orders, Random(str(seed))).failure for seed in SEEDS]
    details = {failure.details for failure in failures if failure is not None}
    assert details == {
        "one waits for second, held by other, and holds first; other waits for first, held by one, and holds second"
    }


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_run_is_replayed_from_its_choices(plant: Plant) -> None:
    """Its choices alone bring about the same steps and the same failure."""
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
    """Two tasks of three points each, no more than one preemption: two orders to begin in, three places to preempt."""
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


def test_time_moves_when_nobody_can_go_on() -> None:
    """Tasks that sleep go on in the order of their times, at those times."""
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


def test_what_an_alarm_does_is_no_step_of_the_task_that_waits() -> None:
    """The task that waited last is woken in the middle of what an alarm does, and goes on once that is done."""

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
    """What runs when an object is collected may put something in a queue, and may take no lock."""

    class Thing:
        """What calls when it is collected."""

        def __init__(self, call: Callable[[], object]) -> None:
            self._call = call

        def __del__(self) -> None:
            self._call()

    def plant(scheduler: Scheduler, *, locks: bool) -> Callable[[], None]:
        lock, queue = Lock(scheduler, "lock"), SimpleQueue(scheduler)

        def drop() -> None:
            scheduler.collect(Thing(lock.acquire if locks else lambda: queue.put(1)), 2)
            for _ in range(5):
                scheduler.point()
            assert locks or queue.get() == 1

        scheduler.spawn("drops", drop)
        return _nothing

    assert _run(lambda scheduler: plant(scheduler, locks=False), Replayed(())).failure is None
    failure = _run(lambda scheduler: plant(scheduler, locks=True), Replayed(())).failure
    assert failure is not None
    assert failure.rule == "nothing that the collector runs takes a lock"


def test_locks_out_of_order_are_found() -> None:
    """A lock of a lower rank under one of a higher is a failure, without any deadlock."""

    def plant(scheduler: Scheduler) -> Callable[[], None]:
        outer, inner = Lock(scheduler, "outer", rank=1), Lock(scheduler, "inner", rank=2)

        def take() -> None:
            with outer, inner:
                pass
            with inner, outer:
                pass

        scheduler.spawn("takes", take)
        return _nothing

    failure = _run(plant, Replayed(())).failure
    assert failure is not None
    assert str(failure) == "locks are taken in their order: takes takes outer under inner"

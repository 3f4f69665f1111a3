"""The lock of a backend that takes one call at a time: threads get it in the order in which they came."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from htppower.control.time import fair_lock
from htppower.control.time.fair_lock import FairLock
from htppower.control.time.locks import Rank, is_held, make_lock

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 30
MANY = 12


class Interrupted(BaseException):
    """What a signal handler raises."""


class Interruptible:
    """A lock of which the wait ends with an exception once its thread is interrupted: as Ctrl-C in the main thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        while not self._lock.acquire(timeout=0.005):
            if threading.current_thread().interrupted.is_set():  # type: ignore[attr-defined]
                raise Interrupted

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _is_owned(self) -> bool:
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]


class Step:
    """An action of one thread: it tells that it runs, and goes on when it is let."""

    def __init__(self, fair: FairLock, served: list[int], number: int) -> None:
        self.fair = fair
        self.served = served
        self.number = number
        self.running = threading.Event()
        self.may_end = threading.Event()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.interrupted = self.thread.interrupted = threading.Event()  # type: ignore[attr-defined]

    def _work(self) -> None:
        try:
            assert self.fair.run(self._serve, self.number) == self.number
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            self.error = error

    def _serve(self, number: int) -> int:
        self.served.append(number)
        self.running.set()
        assert is_held(self.fair.lock)
        assert self.may_end.wait(WAIT_S)
        return number

    def join_the_line(self) -> None:
        """Start, and return when the thread stands in the line."""
        last = self.fair._last
        self.thread.start()
        until(lambda: self.fair._last is not last)

    def end(self) -> None:
        """Let it end, and wait for that."""
        self.may_end.set()
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive()


def until(holds: Callable[[], Any]) -> None:
    """Wait until something holds."""
    for _ in range(WAIT_S * 1000):
        if holds():
            return
        threading.Event().wait(0.001)
    pytest.fail(f"waited {WAIT_S} s")


@pytest.fixture
def fair() -> FairLock:
    """Return a lock."""
    return FairLock(make_lock(Rank.CALL))


def line(fair: FairLock, count: int) -> tuple[list[Step], list[int]]:
    """Return so many threads, of which the first has the lock, and the numbers of those that got it."""
    served: list[int] = []
    steps = [Step(fair, served, number) for number in range(count)]
    for step in steps:
        step.join_the_line()
    assert steps[0].running.wait(WAIT_S)
    return steps, served


def test_threads_are_served_in_the_order_in_which_they_came(fair: FairLock) -> None:
    """Whoever waits longest is next, and one at a time is."""
    steps, served = line(fair, MANY)
    for number, step in enumerate(steps):
        assert step.running.wait(WAIT_S)
        assert served == list(range(number + 1))
        step.end()


def test_who_gave_the_lock_back_stands_at_the_end(fair: FairLock) -> None:
    """A thread that asks again at once does not overtake one that waits."""
    steps, served = line(fair, 2)
    again = Step(fair, served, 2)
    again.join_the_line()
    steps[0].end()
    steps[1].end()
    again.end()
    assert served == [0, 1, 2]


@pytest.mark.parametrize("left", [(1,), (2,), (1, 2), (2, 1), (3,), (1, 3)])
def test_one_that_is_interrupted_while_it_waits_leaves_the_line(
    left: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those behind it keep their order, whoever leaves, and wait still for those before it."""
    monkeypatch.setattr(fair_lock, "whole_lock", Interruptible)
    steps, served = line(FairLock(make_lock(Rank.CALL)), 4)
    for number in left:
        steps[number].interrupted.set()
        steps[number].thread.join(WAIT_S)
        assert isinstance(steps[number].error, Interrupted)
    late = Step(steps[0].fair, served, 4)
    late.join_the_line()
    assert served == [0]
    for step in (*steps, late):
        if step.number not in left:
            assert step.running.wait(WAIT_S)
            step.end()
    assert served == [number for number in range(5) if number not in left]


def test_a_signal_handler_may_take_it_in_the_middle_of_the_action(fair: FairLock) -> None:
    """It runs on the thread that has the lock, and must not wait for that."""
    assert fair.run(lambda: fair.run(lambda: 7)) == 7
    assert fair.run(lambda: 8) == 8
    assert not is_held(fair.lock)


def test_a_signal_handler_may_take_it_while_its_thread_waits(fair: FairLock) -> None:
    """It waits for those before its thread, and not for its thread."""
    served: list[str] = []
    steps, _ = line(fair, 1)
    first = fair._last

    class Handled:
        """Runs a handler when the lock of the one before is waited for."""

        def __init__(self, lock: Any) -> None:
            self.lock = lock
            self.handles = True

        def __enter__(self) -> None:
            if self.handles:
                self.handles = False
                steps[0].may_end.set()
                fair.run(served.append, "handler")
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    first.lock = Handled(first.lock)  # type: ignore[assignment]
    fair.run(served.append, "thread")
    assert served == ["handler", "thread"]
    fair.run(served.append, "next")
    assert served[-1] == "next"


def test_what_the_action_raises_is_passed_on_and_the_next_is_served(fair: FairLock) -> None:
    """An error leaves the lock free."""

    def fails() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        fair.run(fails)
    assert fair.run(lambda: 1) == 1
    assert not is_held(fair.lock)

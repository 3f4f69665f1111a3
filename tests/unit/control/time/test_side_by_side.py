"""Actions that are run side by side, and waited for."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from htppower.control.time.scheduler import SystemTime
from htppower.control.time.side_by_side import run_side_by_side
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT_S = 30


@pytest.fixture
def time() -> Iterator[SystemTime]:
    """Yield real time, with its threads; end them."""
    made = SystemTime()
    yield made
    made.close()


def failing(error: BaseException) -> Callable[[], None]:
    """Return an action that raises."""

    def action() -> None:
        raise error

    return action


def test_nothing_is_run_for_no_actions(time: SystemTime) -> None:
    """Without actions nothing is waited for, with a timeout or without."""
    assert run_side_by_side(time, []) == run_side_by_side(time, [], timeout_s=0) == ()


def test_actions_run_at_the_same_time(time: SystemTime) -> None:
    """Each of eight goes on only once all have begun; it returns when the last has ended."""
    together, ended = threading.Barrier(8, timeout=WAIT_S), list[threading.Thread]()

    def action() -> None:
        together.wait()
        ended.append(threading.current_thread())

    assert run_side_by_side(time, [action] * 8) == ()
    assert len(set(ended)) == 8


def test_one_action_runs_on_the_thread_that_asks(time: SystemTime) -> None:
    """Alone, and without a timeout, an action needs no other thread."""
    threads: list[threading.Thread] = []
    run_side_by_side(time, [lambda: threads.append(threading.current_thread())])
    assert threads == [threading.current_thread()]


def test_one_action_with_a_timeout_runs_on_another_thread(time: SystemTime) -> None:
    """Who gives up after a time can't run the action itself."""
    threads: list[threading.Thread] = []
    assert run_side_by_side(time, [lambda: threads.append(threading.current_thread())], timeout_s=WAIT_S) == ()
    assert threading.current_thread() not in threads


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_what_an_action_raises_is_raised_once_all_have_ended(time: SystemTime, error: BaseException) -> None:
    """The others run to their ends before; of several that raise, the first in order counts, and not in time."""
    failed, ended = threading.Event(), []

    def fails_first() -> None:
        failed.set()
        raise OSError("the second in order")

    def fails_last() -> None:
        assert failed.wait(WAIT_S)
        raise error

    def ends_last() -> None:
        assert failed.wait(WAIT_S)
        ended.append(True)

    with pytest.raises(type(error)) as caught:
        run_side_by_side(time, [fails_last, fails_first, ends_last])
    assert caught.value is error
    assert ended == [True]


def test_what_the_only_action_raises_passes(time: SystemTime) -> None:
    """Alone, too, an action's exception is raised as it is."""
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as caught:
        run_side_by_side(time, [failing(error)])
    assert caught.value is error


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Return what says how much of a timeout, which it returns, is left when it waits for each action in turn."""

    def script(*seconds: float) -> float:
        times = iter([0.0, *(WAIT_S - left for left in seconds)])
        monkeypatch.setattr(f"{run_side_by_side.__module__}.clock", SimpleNamespace(monotonic=lambda: next(times)))
        return WAIT_S

    return script


def test_after_the_timeout_who_has_not_ended_is_told(time: SystemTime, left: Callable[..., float]) -> None:
    """One that hangs is given up, by its place; the rest have run."""
    opened, ran = threading.Event(), []

    def hang() -> None:
        opened.wait(WAIT_S)

    actions = [lambda: ran.append(0), hang, lambda: ran.append(2), hang]
    try:
        assert run_side_by_side(time, actions, timeout_s=left(WAIT_S, 0, WAIT_S, 0)) == (1, 3)
        assert sorted(ran) == [0, 2]
    finally:
        opened.set()


def test_after_the_timeout_what_was_raised_counts_more_than_who_hangs(
    time: SystemTime, left: Callable[..., float]
) -> None:
    """An exception is passed on also where another action hangs."""
    opened = threading.Event()
    actions = [lambda: opened.wait(WAIT_S), failing(ValueError("mine"))]
    try:
        with pytest.raises(ValueError, match="mine"):
            run_side_by_side(time, actions, timeout_s=left(-1, WAIT_S))
    finally:
        opened.set()


def test_where_no_thread_can_be_started_actions_run_one_after_the_other(
    time: SystemTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at the very end of a process: on the thread that asks, in order, and what they raise is raised."""

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    ran: list[threading.Thread] = []
    actions = [lambda: ran.append(threading.current_thread())] * 3
    with pytest.raises(ValueError, match="mine"):
        run_side_by_side(time, [failing(ValueError("mine")), *actions])
    assert ran == [threading.current_thread()] * 3


def test_in_virtual_time_actions_run_in_order() -> None:
    """On the thread that asks, one after the other, and what they raise is raised when all have run."""
    ran: list[int] = []
    actions = [lambda: ran.append(0), failing(ValueError("mine")), lambda: ran.append(2)]
    with pytest.raises(ValueError, match="mine"):
        run_side_by_side(VirtualTime(), actions)
    assert ran == [0, 2]


@pytest.mark.parametrize("kind", ["virtual", "real"])
def test_an_action_may_run_others_side_by_side(time: SystemTime, kind: str) -> None:
    """What runs on a thread of the time, such as a session that is settled there, may itself wait for actions."""
    used = VirtualTime() if kind == "virtual" else time
    ran: list[int] = []

    def outer() -> None:
        places = run_side_by_side(used, [lambda: ran.append(1), lambda: ran.append(2)], timeout_s=1.0)
        ran.extend(-place for place in places)

    run_side_by_side(used, [outer, lambda: ran.append(3)])
    assert sorted(ran) == [1, 2, 3]

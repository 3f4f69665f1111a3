"""A pool of threads: it runs actions side by side."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from hanging import WAIT_S, Hang, start_no_thread, until

from htppower.control.time.thread_pool import ThreadPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "pool of a test"


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    """Yield a pool; close it, and assert that all its threads end."""
    made = ThreadPool(NAME)
    yield made
    made.close()
    join_all()


def threads() -> list[threading.Thread]:
    """Return the threads of the pool."""
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def join_all() -> None:
    """Wait until every thread of the pool has ended."""
    for thread in threads():
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_starts_no_thread_before_the_first_action(pool: ThreadPool) -> None:
    """A pool that is not used costs nothing."""
    assert threads() == []


def test_runs_actions_side_by_side(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """However many hang, the next one runs, each on a daemon thread of its own."""
    hanging = [hang() for _ in range(8)]
    for each in hanging:
        pool.post(each)
    for each in hanging:
        assert each.begun.wait(WAIT_S)
    assert {each.thread for each in hanging} == set(threads())
    assert len(threads()) == 8
    assert all(thread.daemon for thread in threads())


def test_uses_a_thread_that_is_free_again(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """One thread is enough for actions that are posted when the one before has ended."""
    for _ in range(5):
        action = hang()
        pool.post(action)
        action.let_go.set()
        assert action.ended.wait(WAIT_S)
        until(lambda: len(pool._idle) == 1)
    assert len(threads()) == 1


def test_a_free_thread_is_promised_to_one_action_only(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """Two actions that are posted at once where one thread is free run side by side all the same."""
    first = hang()
    pool.post(first)
    first.let_go.set()
    until(lambda: len(pool._idle) == 1)
    both = [hang(), hang()]
    for each in both:
        pool.post(each)
    for each in both:
        assert each.begun.wait(WAIT_S)


def test_an_idle_thread_ends(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """Threads that have nothing to do for a while are given back, and started again when they are needed."""
    pool.IDLE_S = 0.001
    for _ in range(2):
        action = hang()
        action.let_go.set()
        pool.post(action)
        assert action.ended.wait(WAIT_S)
        join_all()
        assert (len(pool._threads), len(pool._idle)) == (0, 0)


def test_every_thread_ends_however_actions_and_threads_met(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """An action that is posted for a free thread may be taken by one that has just ended another: both are free."""
    pool.IDLE_S = 0.05
    for _ in range(20):
        busy, taken = hang(), hang()
        pool.post(busy)
        assert busy.begun.wait(WAIT_S)
        busy.let_go.set()
        taken.let_go.set()
        pool.post(taken)
        assert taken.ended.wait(WAIT_S)
    join_all()
    assert (len(pool._threads), len(pool._idle)) == (0, 0)


def test_has_a_most_of_threads(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """What is posted where all of them are busy waits for the first that is free."""
    pool.MOST_THREADS = 2
    hanging = [hang() for _ in range(4)]
    for each in hanging:
        pool.post(each)
    assert hanging[1].begun.wait(WAIT_S)
    assert (len(threads()), hanging[2].begun.is_set()) == (2, False)
    hanging[0].let_go.set()
    assert hanging[2].begun.wait(WAIT_S)
    assert hanging[2].thread is hanging[0].thread
    assert not hanging[3].begun.is_set()


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3), KeyboardInterrupt()])
def test_lives_on_whatever_an_action_raises(
    pool: ThreadPool, hang: Callable[[], Hang], error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and the thread goes on."""

    def fail() -> None:
        raise error

    pool.post(fail)
    until(lambda: len(pool._idle) == 1)
    assert type(error).__name__ in caplog.text
    action = hang()
    pool.post(action)
    assert action.begun.wait(WAIT_S)
    assert len(threads()) == 1


def test_keeps_nothing_of_what_it_ran_alive(pool: ThreadPool) -> None:
    """A thread that waits holds no action, and so nothing that it belongs to."""

    class Action:
        def __call__(self) -> None:
            pass

    action = Action()
    gone = weakref.ref(action)
    pool.post(action)
    del action
    until(lambda: len(pool._idle) == 1)
    assert gone() is None


def test_an_action_may_post_another(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """The other runs side by side with it."""
    inner, outer = hang(), hang()

    def post() -> None:
        pool.post(inner)
        outer()

    pool.post(post)
    assert inner.begun.wait(WAIT_S)
    assert outer.begun.wait(WAIT_S)
    assert inner.thread is not outer.thread


def test_where_no_thread_can_be_started_nothing_runs(pool: ThreadPool, no_threads: None) -> None:
    """Who posts may hold a lock that the action needs, and so is told instead."""
    ran: list[int] = []
    for _ in range(2):
        with pytest.raises(RuntimeError):
            pool.post(lambda: ran.append(1))
    assert (ran, len(pool._threads), len(pool._idle)) == ([], 0, 0)


def test_where_no_more_threads_can_be_started_a_free_one_runs_it(
    pool: ThreadPool, hang: Callable[[], Hang], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is posted while all are busy is refused: these may hang in native calls for good."""
    busy, runs = hang(), hang()
    pool.post(busy)
    assert busy.begun.wait(WAIT_S)
    monkeypatch.setattr(threading.Thread, "start", start_no_thread)
    with pytest.raises(RuntimeError):
        pool.post(runs)
    busy.let_go.set()
    until(lambda: len(pool._idle) == 1)
    pool.post(runs)
    assert runs.begun.wait(WAIT_S)
    assert runs.thread is busy.thread


def test_closed_it_runs_what_was_posted_and_ends(pool: ThreadPool, hang: Callable[[], Hang]) -> None:
    """Also what still waits for a thread; then every thread ends, free or busy."""
    pool.MOST_THREADS = 2
    hanging = [hang() for _ in range(4)]
    for each in hanging:
        pool.post(each)
    assert hanging[1].begun.wait(WAIT_S)
    pool.close()
    for each in hanging:
        each.let_go.set()
    for each in hanging:
        assert each.ended.wait(WAIT_S)
    join_all()


def test_closed_it_refuses(pool: ThreadPool) -> None:
    """What is posted later would never run."""
    pool.close()
    with pytest.raises(RuntimeError):
        pool.post(lambda: None)
    assert threads() == []


@pytest.mark.parametrize("started", [False, True])
def test_an_interrupt_while_threads_start_leaves_room_for_as_many(
    pool: ThreadPool, hang: Callable[[], Hang], monkeypatch: pytest.MonkeyPatch, started: bool
) -> None:
    """Ctrl-C in the start of a thread, which runs then or does not: it counts for no longer than it lives."""
    monkeypatch.setattr(ThreadPool, "MOST_THREADS", 2)
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if started:
            start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        patched.setattr(ThreadPool, "IDLE_S", 0.0)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                pool.post(lambda: None)
        join_all()
    hanging = [hang() for _ in range(3)]
    for each in hanging:
        pool.post(each)
    for each in hanging[:2]:
        assert each.begun.wait(WAIT_S)
    assert len(threads()) == 2


class _Line(deque[Any]):
    """The line of the threads that wait, in which SystemExit comes once to one that has just joined it."""

    came = False

    def append(self, place: Any) -> None:
        super().append(place)
        if not self.came:
            self.came = True
            raise SystemExit


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_as_it_begins_to_wait_is_woken_for_no_action(
    pool: ThreadPool, hang: Callable[[], Hang]
) -> None:
    """An action for which another is free would wait until that looks by itself."""
    pool.IDLE_S = 10 * WAIT_S
    other, action = hang(), hang()
    pool.post(other)
    assert other.begun.wait(WAIT_S)
    pool._changed._waiters = _Line()  # type: ignore[attr-defined]
    pool.post(lambda: None)
    until(lambda: len(pool._threads) == 1)
    other.let_go.set()
    until(lambda: len(pool._idle) == 1)
    pool.post(action)
    assert action.begun.wait(WAIT_S)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_a_thread_leaves_that_ends_is_run_by_another(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where none can be started then: the next that can runs it, and none counts that does not run."""
    ran: list[int] = []
    ends, start = [True], threading.Thread.start
    next_action = pool._next

    def take_and_end(taken: list[Callable[[], object]]) -> bool:
        went_on = next_action(taken)
        if ends and taken:
            ends.pop()
            monkeypatch.setattr(threading.Thread, "start", start_no_thread)
            raise SystemExit
        return went_on

    monkeypatch.setattr(pool, "_next", take_and_end)
    pool.post(lambda: ran.append(1))
    until(lambda: not ends and not threads())
    assert (ran, len(pool._threads), len(pool._idle)) == ([], 0, 0)
    monkeypatch.setattr(threading.Thread, "start", start)
    pool.post(lambda: ran.append(2))
    until(lambda: ran == [1, 2])

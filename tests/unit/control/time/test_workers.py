"""Workers: each runs its actions one after the other on a thread of its own."""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from typing import TYPE_CHECKING

import pytest
from support.hanging import WAIT_S, until

from htppower.control.time.workers import ThreadWorker
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "worker of a test"


@pytest.fixture
def worker() -> Iterator[ThreadWorker]:
    """Yield a worker; close it, and wait for its thread's end."""
    made = ThreadWorker(NAME, logging.getLogger("htppower.test"))
    yield made
    made.close()
    until(lambda: threads() == 0)


def threads() -> int:
    """Return the number of living worker threads."""
    return sum(thread.name == NAME for thread in threading.enumerate())


def test_runs_in_order_on_one_thread(worker: ThreadWorker) -> None:
    """Actions run in the order of their posting."""
    ran: list[tuple[int, threading.Thread]] = []

    def run(number: int) -> None:
        ran.append((number, threading.current_thread()))

    for number in range(100):
        post = worker.post_unlocked if number % 2 else worker.post
        post(functools.partial(run, number))
    assert worker.flush(WAIT_S)
    assert [number for number, _ in ran] == list(range(100))
    assert len({thread for _, thread in ran}) == 1


def test_what_is_posted_without_a_lock_waits_for_the_thread(worker: ThreadWorker) -> None:
    """A finalizer may post, so ``post_unlocked`` starts no thread; ``start`` does."""
    ran = threading.Event()
    worker.post_unlocked(ran.set)
    assert (worker.pending, ran.is_set(), threads()) == (1, False, 0)
    worker.start()
    assert ran.wait(WAIT_S)
    assert worker.flush(WAIT_S)
    assert worker.pending == 0


def test_an_action_that_fails_is_logged_and_the_next_runs(
    worker: ThreadWorker, caplog: pytest.LogCaptureFixture
) -> None:
    """The error of an action is logged by the worker's own logger, and the next action runs."""
    ran = threading.Event()
    worker.post(lambda: 1 // 0)
    worker.post(ran.set)
    assert ran.wait(WAIT_S)
    (record,) = caplog.records
    assert record.name == "htppower.test"
    assert "ZeroDivisionError" in caplog.text


def test_a_thread_that_waits_keeps_nothing_alive(worker: ThreadWorker) -> None:
    """The worker keeps no reference to an action that has run."""

    class Input:
        """A large object."""

    held = Input()
    kept = weakref.ref(held)
    worker.post(functools.partial(id, held))
    del held
    assert worker.flush(WAIT_S)
    assert kept() is None


def test_closed_it_runs_what_was_posted_and_nothing_more(worker: ThreadWorker) -> None:
    """After ``close``, earlier actions run, later ones do not, and ``flush`` waits for the thread's end."""
    ran: list[int] = []
    worker.post(lambda: ran.append(1))
    worker.close()
    worker.post(lambda: ran.append(2))
    assert worker.flush(WAIT_S)
    assert ran == [1]


def test_a_thread_that_is_idle_ends_and_another_one_starts(worker: ThreadWorker) -> None:
    """Each action runs, also if it is posted while the thread ends."""
    worker.keep(0.0)
    for _ in range(200):
        ran = threading.Event()
        worker.post(ran.set)
        assert ran.wait(WAIT_S)
    until(lambda: threads() == 0)
    ran = threading.Event()
    worker.post(ran.set)
    assert ran.wait(WAIT_S)


def test_without_a_thread_what_is_posted_runs_at_once(worker: ThreadWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    """``start`` raises, and actions run at once, in order; a later thread runs later actions."""
    ran: list[int] = []
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", _start_none)
        with pytest.raises(RuntimeError):
            worker.start()
        worker.post_unlocked(functools.partial(ran.append, 1))
        worker.post(functools.partial(ran.append, 2))
        assert (worker.inline, ran) == (True, [1, 2])
    assert not worker.inline
    worker.post(functools.partial(ran.append, 3))
    assert worker.flush(WAIT_S)
    assert ran == [1, 2, 3]


def _start_none(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("started", [False, True])
def test_ctrl_c_while_its_thread_starts_leaves_it_alive(
    worker: ThreadWorker, monkeypatch: pytest.MonkeyPatch, started: bool
) -> None:
    """Whether the thread started or not, later actions run in order on one thread."""
    ran, start = list[int](), threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if started:
            start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.start()
    for number in range(3):
        worker.post(functools.partial(ran.append, number))
    assert worker.flush(WAIT_S)
    assert ran == [0, 1, 2]
    until(lambda: threads() == 1)


def test_in_virtual_time_it_runs_at_once() -> None:
    """In virtual time an action has run when ``post`` returns."""
    ran: list[int] = []
    worker = VirtualTime().worker(NAME)
    worker.post(lambda: ran.append(1))
    assert (worker.inline, ran) == (True, [1])

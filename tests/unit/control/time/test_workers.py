"""Workers, which run actions one after the other, and alarms, which keep no other waiting."""

from __future__ import annotations

import functools
import logging
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from hanging import WAIT_S, Hang, start_no_thread, until

from htppower.control.time import workers
from htppower.control.time.scheduler import MOST_CANCELLED, Alarm, SystemTime
from htppower.control.time.thread_pool import ThreadPool
from htppower.control.time.workers import MOST_RUNS, ThreadWorker
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable


def _end_thread() -> None:
    raise SystemExit


class TestWorker:
    """A worker runs actions one after the other."""

    def test_runs_in_order_on_one_thread(self) -> None:
        """Whatever posts them."""
        ran: list[tuple[int, threading.Thread]] = []
        worker = ThreadWorker("worker of a test")

        def run(number: int) -> None:
            ran.append((number, threading.current_thread()))

        for number in range(100):
            post = worker.post_unlocked if number % 2 else worker.post
            post(functools.partial(run, number))
        assert worker.flush(WAIT_S)
        assert [number for number, _ in ran] == list(range(100))
        assert len({thread for _, thread in ran}) == 1
        worker.close()

    def test_what_is_posted_without_a_lock_waits_for_the_thread(self) -> None:
        """It starts none, since the collector may run it; whoever starts the thread runs it."""
        ran: list[int] = []
        worker = ThreadWorker("worker of a test")
        worker.post_unlocked(lambda: ran.append(1))
        assert (worker.pending, ran) == (1, [])
        worker.start()
        assert worker.flush(WAIT_S)
        assert (worker.pending, ran) == (0, [1])
        worker.close()

    def test_hands_on_what_it_does_not_run_itself(self, hang: Callable[[], Hang]) -> None:
        """A worker that carries out on a pool goes on while an action hangs."""
        pool = ThreadPool("pool of a test")
        worker = ThreadWorker("worker of a test", run=pool.post)
        hanging = [hang(), hang()]
        for each in hanging:
            worker.post(each)
        for each in hanging:
            assert each.begun.wait(WAIT_S)
        worker.close()
        pool.close()

    def test_what_ends_each_time_is_given_up(self) -> None:
        """What it hands on raises SystemExit whenever it is tried: it is tried a few times, and then the next."""
        tried: list[str] = []
        done = threading.Event()

        def carry_out(action: Callable[[], object]) -> None:
            tried.append("")
            action()

        worker = ThreadWorker("worker of a test", run=carry_out)
        worker.post(sys.exit)
        worker.post(done.set)
        assert done.wait(WAIT_S)
        assert len(tried) == MOST_RUNS + 1
        worker.close()

    def test_closed_it_runs_what_was_posted_and_nothing_more(self) -> None:
        """``post_or_run`` runs at once then."""
        ran: list[int] = []
        worker = ThreadWorker("worker of a test")
        worker.post(lambda: ran.append(1))
        worker.close()
        worker.post(lambda: ran.append(2))
        assert worker.flush(WAIT_S)
        assert ran == [1]
        worker.post_or_run(lambda: ran.append(3))
        assert ran == [1, 3]

    def test_runs_at_once_where_no_thread_can_be_started(
        self, no_threads: None, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Starting says so; posting runs on the thread that posts, and logs what is raised."""
        ran: list[int] = []
        worker = ThreadWorker("worker of a test", logging.getLogger("htppower.test"))
        with pytest.raises(RuntimeError):
            worker.start()
        worker.post(lambda: ran.append(1))
        worker.post_or_run(lambda: ran.append(1 // 0))
        assert ran == [1]
        assert "ZeroDivisionError" in caplog.text

    @pytest.mark.parametrize("started", [False, True])
    def test_an_interrupt_while_its_thread_starts_leaves_it_alive(
        self, monkeypatch: pytest.MonkeyPatch, started: bool
    ) -> None:
        """Ctrl-C in the start of the thread, which runs then or does not: what is posted next runs, on one thread."""
        worker, ran, done = ThreadWorker("test"), list[int](), threading.Event()
        start = threading.Thread.start

        def interrupted(thread: threading.Thread) -> None:
            if started:
                start(thread)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", interrupted)
            with pytest.raises(KeyboardInterrupt):
                worker.start()
        for number in range(3):
            worker.post(lambda number=number: ran.append(number))  # type: ignore[misc]
        worker.post(done.set)
        assert done.wait(WAIT_S)
        assert ran == [0, 1, 2]
        until(lambda: sum(thread.name == "test" for thread in threading.enumerate()) == 1)
        worker.close()

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    @pytest.mark.parametrize("closes", [False, True])
    def test_where_its_thread_ends_another_goes_on_in_order(
        self, monkeypatch: pytest.MonkeyPatch, closes: bool
    ) -> None:
        """With what the thread was about to run, also where the worker was closed meanwhile."""
        ran, posted, done, ends = list[int](), threading.Event(), threading.Event(), [True]

        def end_at_first(action: Callable[[], object], _logger: logging.Logger) -> None:
            assert posted.wait(WAIT_S)
            if ends:
                ends.pop()
                raise SystemExit
            action()

        monkeypatch.setattr(workers, "run_whatever", end_at_first)
        worker = ThreadWorker("worker of a test")
        for number in range(3):
            worker.post(functools.partial(ran.append, number))
        worker.post(done.set)
        if closes:
            worker.close()
        posted.set()
        assert done.wait(WAIT_S)
        assert ran == [0, 1, 2]
        worker.close()
        until(lambda: all(thread.name != "worker of a test" for thread in threading.enumerate()))

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_where_its_thread_ends_before_it_does_anything_the_next_start_starts_another(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Which runs what was posted meanwhile; on one thread."""
        worker, ran, done = ThreadWorker("worker of a test"), list[int](), threading.Event()
        with monkeypatch.context() as patched:
            patched.setattr(worker, "_work", _end_thread)
            worker.start()
        # It is alive for a moment after it is enumerated no more.
        assert worker._thread is not None
        worker._thread.join(WAIT_S)
        worker.post(lambda: ran.append(1))
        worker.start()
        worker.post(done.set)
        assert done.wait(WAIT_S)
        assert ran == [1]
        worker.start()
        assert sum(thread.name == "worker of a test" for thread in threading.enumerate()) == 1
        worker.close()

    def test_in_virtual_time_it_runs_at_once(self) -> None:
        """What is posted has run when ``post`` returns."""
        ran: list[int] = []
        VirtualTime().worker("worker of a test").post(lambda: ran.append(1))
        assert ran == [1]


class TestAlarms:
    """Alarms of the system's time run on its pool."""

    def test_an_alarm_that_hangs_keeps_no_other_waiting(self, hang: Callable[[], Hang]) -> None:
        """Nor does what was posted to run soon, or spawned."""
        system = SystemTime()
        hanging = [hang() for _ in range(5)]
        system.call_at(0, hanging[0])
        system.call_at(system.now_us + 1_000, hanging[1])
        system.call_at(system.now_us + 1_000, hanging[2])
        system.spawn(hanging[3])
        system.call_soon(hanging[4])
        for each in hanging:
            assert each.begun.wait(WAIT_S)
        for each in hanging:
            each.let_go.set()
        system.close()

    @pytest.mark.parametrize("in_us", [0, 1_000])
    def test_an_alarm_that_is_interrupted_rings_again(self, in_us: int) -> None:
        """An exception from outside in its action, on a thread of ours: it would keep votes up for good."""
        system, ran, done = SystemTime(), list[int](), threading.Event()

        def interrupted_at_first() -> None:
            ran.append(1)
            if len(ran) == 1:
                raise KeyboardInterrupt
            done.set()

        system.call_at(system.now_us + in_us, interrupted_at_first)
        assert done.wait(WAIT_S)
        system.close()

    def test_an_alarm_that_fails_keeps_no_other_from_ringing(self, caplog: pytest.LogCaptureFixture) -> None:
        """What it raises is logged, once."""
        system, done = SystemTime(), threading.Event()
        at_us = system.now_us + 1_000
        system.call_at(at_us, lambda: 1 // 0)  # type: ignore[arg-type]
        system.call_at(at_us, done.set)
        assert done.wait(WAIT_S)
        until(lambda: "ZeroDivisionError" in caplog.text)
        assert caplog.text.count("ZeroDivisionError") == 1
        system.close()

    def test_alarms_that_ring_as_they_are_handed_on_count_as_none_that_was_taken_back(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On another thread they may do so at once. Those that are taken back later are let go of still."""
        system, rang = SystemTime(), list[int]()
        monkeypatch.setattr(system._pool, "post", lambda action: action())
        system._alarms = [Alarm(0, functools.partial(rang.append, 1)) for _ in range(4 * MOST_CANCELLED)]
        system._ring()
        assert len(rang) == 4 * MOST_CANCELLED
        for alarm in [system.call_at(system.now_us + 10**9, lambda: None) for _ in range(2 * MOST_CANCELLED)]:
            system.cancel(alarm)
        assert len(system._alarms) <= MOST_CANCELLED
        system.close()

    def test_an_alarm_never_runs_on_the_thread_that_arms_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who arms one may hold a lock that the alarm needs: where no thread can be started, arming fails instead."""
        system = SystemTime()
        system.start()
        ran: list[int] = []

        monkeypatch.setattr(threading.Thread, "start", start_no_thread)
        with pytest.raises(RuntimeError):
            system.call_at(0, lambda: ran.append(1))
        assert ran == []
        system.close()

    def test_what_is_spawned_at_the_end_of_a_process_waits_for_no_call_that_hangs(
        self, hang: Callable[[], Hang], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where every thread of the pool is busy and none can be started, that of ``call_soon`` runs it."""
        system = SystemTime()
        system.start()
        hangs, runs = hang(), hang()
        system.spawn(hangs)
        assert hangs.begun.wait(WAIT_S)
        monkeypatch.setattr(threading.Thread, "start", start_no_thread)
        system.spawn(runs)
        assert runs.begun.wait(WAIT_S)
        assert runs.thread not in (hangs.thread, threading.current_thread())
        hangs.let_go.set()
        runs.let_go.set()
        system.close()

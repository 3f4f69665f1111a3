"""The scheduler of APScheduler: its locks are ours, and so is what wakes its thread; another takes that one's place."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from apscheduler.jobstores.memory import MemoryJobStore
from hanging import WAIT_S, until

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.scheduler import SystemTime
from htppower.control.time.whole_scheduler import Scheduler, _OffThread


def test_an_exception_from_outside_finds_no_lock_of_threading() -> None:
    """One of ``threading`` would be left held by it from CPython 3.14 on, and no alarm would ring any more."""
    scheduler = Scheduler(lambda run: run())
    for lock in (scheduler._jobstores_lock, scheduler._executors_lock, scheduler._listeners_lock):
        assert type(lock) is type(whole_lock())
    bell = scheduler._event
    scheduler.start()
    assert scheduler._event is bell
    scheduler.shutdown()


def test_the_bell_wakes_who_waits_and_who_waits_next() -> None:
    """As ``threading.Event``; waiting for no time returns at once."""
    bell, woken = Scheduler(lambda run: run())._event, threading.Event()

    def wait() -> None:
        bell.wait(WAIT_S)
        woken.set()

    waits = threading.Thread(target=wait)
    waits.start()
    bell.set()
    assert woken.wait(WAIT_S)
    waits.join()
    assert bell.is_set()
    bell.wait(threading.TIMEOUT_MAX)
    bell.clear()
    assert not bell.is_set()
    bell.wait(0.001)
    assert not bell.is_set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [SystemExit, TimeoutError])
@pytest.mark.parametrize(
    ("part", "name"),
    [
        (Scheduler, "_process_jobs"),
        (Scheduler, "_lookup_executor"),
        (_OffThread, "submit_job"),
        (_OffThread, "_do_submit_job"),
        (Scheduler, "remove_job"),
        (MemoryJobStore, "get_due_jobs"),
        (MemoryJobStore, "remove_job"),
    ],
)
def test_an_alarm_rings_wherever_an_exception_from_outside_comes_on_its_thread(
    monkeypatch: pytest.MonkeyPatch, part: type, name: str, error: type[BaseException]
) -> None:
    """As it is due; the next rings, too, and closing ends the thread that has taken the place of the first."""
    system, came, due_us = SystemTime(), list[threading.Thread](), [0]
    whole: Any = getattr(part, name)

    def interrupted(*arguments: Any) -> Any:
        thread = threading.current_thread()
        if not came and thread.name == "APScheduler" and system.now_us >= due_us[0]:
            came.append(thread)
            raise error
        return whole(*arguments)

    def ring() -> None:
        rang = threading.Event()
        due_us[0] = system.now_us + 5_000
        system.call_at(due_us[0], rang.set)
        # Well before APScheduler itself would look again.
        assert rang.wait(WAIT_S / 6)

    monkeypatch.setattr(part, name, interrupted)
    try:
        while not came:
            # Once, unless this thread is so late that the alarm is due as it is armed.
            ring()
        ring()
    finally:
        system.close()
    until(lambda: all(thread.name != "APScheduler" for thread in threading.enumerate()))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_where_its_thread_ends_before_it_does_anything_the_next_alarm_starts_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alarms that are due meanwhile ring then."""
    system, rang = SystemTime(), [threading.Event(), threading.Event()]

    def end_thread(_scheduler: Scheduler) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(Scheduler, "_main_loop", end_thread)
        system.call_at(system.now_us + 1_000_000, rang[0].set)
        # The second, where the alarm found the first ended. It is alive for a moment after it is enumerated no more.
        assert system._scheduler is not None
        system._scheduler._thread.join(WAIT_S)
    system.call_at(system.now_us + 1_000, rang[1].set)
    for each in rang:
        assert each.wait(WAIT_S)
    system.close()

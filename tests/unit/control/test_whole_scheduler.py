"""The scheduler of APScheduler: its locks are ours, and so is what wakes its thread."""

from __future__ import annotations

import threading

from hanging import WAIT_S

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.whole_scheduler import Scheduler


def test_an_exception_from_outside_finds_no_lock_of_threading() -> None:
    """One of ``threading`` would be left held by it from CPython 3.14 on, and no alarm would ring any more."""
    scheduler = Scheduler()
    for lock in (scheduler._jobstores_lock, scheduler._executors_lock, scheduler._listeners_lock):
        assert type(lock) is type(whole_lock())
    bell = scheduler._event
    scheduler.start()
    assert scheduler._event is bell
    scheduler.shutdown()


def test_the_bell_wakes_who_waits_and_who_waits_next() -> None:
    """As ``threading.Event``; waiting for no time returns at once."""
    bell, woken = Scheduler()._event, threading.Event()

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

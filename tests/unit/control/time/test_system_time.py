"""The system's time: alarms on the monotonic clock, and posted actions. The tests use real time, so limits are wide."""

from __future__ import annotations

import datetime
import functools
import os
import threading
from typing import TYPE_CHECKING

import pytest
from support.hanging import WAIT_S, Hang, until
from support.inside import alarm_count, zone_of

from htppower.control.time.scheduler import SystemTime

if TYPE_CHECKING:
    from collections.abc import Iterator

MS = 1_000
HOUR_US = 3_600_000_000


@pytest.fixture
def system() -> Iterator[SystemTime]:
    """Yield the system's time; close it."""
    made = SystemTime()
    yield made
    made.close()


def run_on_its_thread(system: SystemTime) -> None:
    """Wait until the thread of ``call_soon`` has run its actions."""
    done = threading.Event()
    system.start()
    system.call_soon(done.set)
    assert done.wait(WAIT_S)


def test_an_alarm_is_never_early(system: SystemTime) -> None:
    """An alarm rings soon after its deadline, and never a microsecond before it."""
    rang: list[tuple[int, int]] = []
    begin_us = system.now_us
    for number in range(50):
        at_us = begin_us + number * MS
        system.call_at(at_us, lambda at_us=at_us: rang.append((at_us, system.now_us)))  # type: ignore[misc]
    until(lambda: len(rang) == 50)
    assert all(at_us <= now_us < at_us + 20_000 * MS for at_us, now_us in rang)


def test_alarms_ring_in_the_order_of_their_deadlines(system: SystemTime) -> None:
    """Alarms ring in the order of their deadlines, in whatever order they were armed."""
    rang: list[int] = []
    begin_us = system.now_us + 100 * MS
    for number in (3, 1, 4, 0, 2):
        system.call_at(begin_us + number * MS, functools.partial(rang.append, number))
    until(lambda: len(rang) == 5)
    assert rang == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("deadline_us", [0, -1])
def test_an_alarm_of_the_past_rings_at_once(system: SystemTime, deadline_us: int) -> None:
    """An alarm in the past rings on the thread of ``call_soon``, never on the thread that arms it."""
    hang = Hang()
    system.call_at(deadline_us, hang)
    assert hang.begun.wait(WAIT_S)
    assert hang.thread is not threading.current_thread()
    hang.let_go.set()


def test_a_deadline_beyond_the_calendar_is_kept(system: SystemTime) -> None:
    """An alarm beyond the last date never rings, and does not stop other alarms."""
    done = threading.Event()
    system.call_at(10**30, lambda: None)
    system.call_at(system.now_us + MS, done.set)
    assert done.wait(WAIT_S)


def test_a_cancelled_alarm_does_not_ring(system: SystemTime) -> None:
    """Cancelling an alarm again, or after it has rung, does nothing."""
    rang: list[int] = []
    at_us = system.now_us + 20 * MS
    cancelled, kept = (system.call_at(at_us, functools.partial(rang.append, number)) for number in range(2))
    system.cancel(cancelled)
    system.cancel(cancelled)
    until(lambda: rang)
    system.cancel(kept)
    run_on_its_thread(system)
    assert rang == [1]


def test_cancelled_alarms_leave_the_heap(system: SystemTime) -> None:
    """If a host cancels each alarm, a bounded number stays in the heap, and other alarms still ring."""
    done = threading.Event()
    system.call_at(system.now_us + 300 * MS, done.set)
    for _ in range(2_000):
        system.cancel(system.call_at(system.now_us + HOUR_US, lambda: None))
    run_on_its_thread(system)
    assert alarm_count(system) <= 256
    assert done.wait(WAIT_S)


def test_an_alarm_that_fails_keeps_no_other_from_ringing(system: SystemTime, caplog: pytest.LogCaptureFixture) -> None:
    """The exception of an alarm's action is logged once, and other alarms still ring."""
    done = threading.Event()
    at_us = system.now_us + MS
    system.call_at(at_us, lambda: 1 // 0)  # type: ignore[arg-type]
    system.call_at(at_us, done.set)
    assert done.wait(WAIT_S)
    assert caplog.text.count("ZeroDivisionError: ") == 1


def test_the_scheduler_goes_by_the_monotonic_clock(system: SystemTime) -> None:
    """The scheduler's clock does not depend on the wall clock."""
    wall = datetime.datetime(1999, 1, 1, tzinfo=zone_of(system))
    before_us = system.now_us
    told = zone_of(system).fromutc(wall)
    assert zone_of(system).at(before_us) <= told <= zone_of(system).at(system.now_us)


def test_closed_it_rings_no_more(system: SystemTime) -> None:
    """After the close no alarm rings, whenever it was armed, and the threads end."""
    rang: list[int] = []
    begun = {*threading.enumerate()}
    system.call_at(system.now_us + 50 * MS, functools.partial(rang.append, 1))
    run_on_its_thread(system)
    system.close()
    system.call_at(0, functools.partial(rang.append, 2))
    until(lambda: not any(thread not in begun for thread in threading.enumerate()))
    assert rang == []


@pytest.mark.usefixtures("no_threads")
def test_without_a_thread_no_alarm_is_armed(caplog: pytest.LogCaptureFixture) -> None:
    """``call_at`` raises, since an alarm on the caller's thread might need its locks; ``start`` only logs."""
    system, rang = SystemTime(), list[int]()
    with pytest.raises(RuntimeError):
        system.call_at(0, functools.partial(rang.append, 1))
    system.start()
    assert (rang, "no thread can be started" in caplog.text) == ([], True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_alarms_of_its_own(system: SystemTime) -> None:
    """The parent's alarms do not ring in the child, and new ones do."""
    hang, rang = Hang(), threading.Event()
    system.call_at(0, hang)
    assert hang.begun.wait(WAIT_S)
    system.call_at(system.now_us + 10 * MS, rang.set)
    child = os.fork()
    if child == 0:  # pragma: no cover - it runs in the child
        own = threading.Event()
        system.call_at(system.now_us + 100 * MS, own.set)
        os._exit(0 if own.wait(WAIT_S) and not rang.is_set() else 1)
    hang.let_go.set()
    assert os.waitpid(child, 0)[1] == 0
    assert rang.wait(WAIT_S)

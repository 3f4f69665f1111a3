"""Sustain timers in real time: a few tests, with wide bounds."""

from __future__ import annotations

import datetime
import logging
import threading
import time
from typing import TYPE_CHECKING

import pytest
from freezegun import freeze_time

from htppower import State, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.backends.clock import MonotonicClock
from htppower.control.time.scheduler import SystemTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUSTAIN_US = 300_000
WIDE_US = 2_000_000


@pytest.fixture
def real_time() -> Iterator[SystemTime]:
    """Yield the system's time, closed afterwards."""
    made = SystemTime()
    yield made
    made.close()


def _wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail("waited ten seconds")


def _ring(real_time: SystemTime, after_us: int, step: Callable[[], None]) -> int:
    """Return how late an alarm rings, in us, if the wall clock is changed while it waits."""
    rang: list[int] = []
    deadline_us = real_time.now_us + after_us
    real_time.call_at(deadline_us, lambda: rang.append(time.monotonic_ns() // 1000))
    step()
    _wait_for(lambda: bool(rang))
    return rang[0] - deadline_us


def test_an_alarm_rings_at_its_deadline_never_early(real_time: SystemTime) -> None:
    """An alarm of 50 ms rings after 50 ms, and soon after."""
    late_us = _ring(real_time, 50_000, lambda: None)
    assert 0 <= late_us < WIDE_US


def test_an_alarm_beyond_the_calendar_is_armed_and_keeps_no_other_from_ringing(
    real_time: SystemTime, caplog: pytest.LogCaptureFixture
) -> None:
    """A host may use its largest number for "never"; datetime ends with the year 9999."""
    real_time.call_at(2**63 - 1, lambda: None)
    assert 0 <= _ring(real_time, 50_000, lambda: None) < WIDE_US
    assert 0 <= _ring(real_time, 50_000, lambda: None) < WIDE_US
    assert caplog.text == ""


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_step_of_the_wall_clock_moves_the_lowering_by_less_than_50_ms(hours: int) -> None:
    """If the wall clock steps an hour either way inside a sustain window, the vote is lowered on time."""
    # freezegun moves datetime.now, which APScheduler reads; the monotonic clock stays real.
    with freeze_time(datetime.datetime.now(tz=datetime.timezone.utc), ignore=["htppower", "threading"]) as wall:
        recorder = RecordingBackend(SimulatedHtp(arch=75))
        controller = VoteController(recorder, handle_sigterm=False)
        session = controller.session("burst")

        def moved_us() -> int:
            with session.inference():
                pass
            ended_us = MonotonicClock().now_us
            wall.tick(datetime.timedelta(hours=hours))
            _wait_for(lambda: session.state is State.LOWERED)
            return recorder.calls[-1].time_us - ended_us - SUSTAIN_US

        # A busy machine may delay one of three by itself.
        assert any(abs(moved_us()) < 50_000 for _ in range(3))
        controller.close()


def test_a_cancelled_alarm_does_not_ring(real_time: SystemTime) -> None:
    """The cancelled alarm stays quiet and the other one rings; cancelling an alarm that has rung is fine."""
    rang: list[str] = []
    cancelled = real_time.call_at(real_time.now_us + 400_000, lambda: rang.append("cancelled"))
    kept = real_time.call_at(real_time.now_us + 420_000, lambda: rang.append("kept"))
    real_time.cancel(cancelled)
    _wait_for(lambda: bool(rang))
    real_time.cancel(kept)
    assert rang == ["kept"]


def test_an_alarm_armed_while_another_runs_is_not_dropped(real_time: SystemTime) -> None:
    """Alarms that fall due while another one runs ring after it, and none is dropped as late or as a duplicate."""
    rang: list[int] = []
    hold = threading.Event()

    def slow() -> None:
        hold.wait(10)
        rang.append(1)

    real_time.call_at(real_time.now_us, slow)
    for number in (2, 3):
        real_time.call_at(real_time.now_us, lambda number=number: rang.append(number))  # type: ignore[misc]
    threading.Event().wait(1.2)
    hold.set()
    _wait_for(lambda: len(rang) == 3)
    assert sorted(rang) == [1, 2, 3]


def test_an_alarm_that_raises_is_logged_and_the_next_one_rings(
    real_time: SystemTime, caplog: pytest.LogCaptureFixture
) -> None:
    """The exception is an ERROR record of htppower, and the next alarm rings."""
    rang: list[int] = []

    def broken() -> None:
        raise RuntimeError("mine")

    def is_logged() -> bool:
        return any(record.name == "htppower.sustain" and record.levelname == "ERROR" for record in list(caplog.records))

    real_time.call_at(real_time.now_us, broken)
    real_time.call_at(real_time.now_us + 10_000, lambda: rang.append(1))
    # Each alarm rings on its own thread, so the second may finish first.
    _wait_for(lambda: bool(rang) and is_logged())


def test_alarms_write_no_records_of_their_own(real_time: SystemTime, caplog: pytest.LogCaptureFixture) -> None:
    """APScheduler's four INFO records for each job are not in the host's log."""
    caplog.set_level(logging.DEBUG)
    _ring(real_time, 1000, lambda: None)
    assert [record for record in caplog.records if "apscheduler" in record.name] == []


def test_no_thread_runs_before_the_first_alarm_and_none_after_close() -> None:
    """SystemTime starts daemon threads when they are needed, and arms nothing after ``close``."""
    before = set(threading.enumerate())
    made = SystemTime()
    assert set(threading.enumerate()) <= before
    made.call_at(made.now_us + 60_000_000, lambda: None)
    started = set(threading.enumerate()) - before
    assert started
    assert all(thread.daemon for thread in started)
    made.close()
    made.call_at(made.now_us, lambda: pytest.fail("rang"))
    _wait_for(lambda: not any(thread.is_alive() for thread in started))


def test_a_burst_session_is_lowered_by_the_real_timer() -> None:
    """In real time: one raise, inferences without a call, one lowering after 300 ms."""
    recorder = RecordingBackend(SimulatedHtp(arch=75))
    with VoteController(recorder, handle_sigterm=False) as controller:
        session = controller.session("burst")
        for _ in range(20):
            with session.inference():
                pass
        _wait_for(lambda: session.state is State.LOWERED)
    recorder.assert_calls(["createPowerConfigId", *["setPowerConfig"] * 4, "destroyPowerConfigId"])
    raised, _, lowered, _ = recorder.calls[1:5]
    assert SUSTAIN_US <= lowered.time_us - raised.time_us < SUSTAIN_US + WIDE_US


def test_closing_just_when_an_alarm_rings_is_quiet() -> None:
    """Closing while the scheduler handles an alarm raises in no thread (APScheduler alone nearly always does)."""
    for _ in range(100):
        made, rang = SystemTime(), threading.Event()
        made.call_at(made.now_us, rang.set)
        assert rang.wait(10)
        made.close()

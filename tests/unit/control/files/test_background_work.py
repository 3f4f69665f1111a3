"""Background work: one run for all pending requests, at its time, and none after the end."""

from __future__ import annotations

import pytest

from htppower.control.files.background_work import BackgroundWork
from htppower.testing import VirtualTime


@pytest.fixture
def time() -> VirtualTime:
    """Return a virtual time."""
    return VirtualTime(1_000)


def _noted(time: VirtualTime, **options: int) -> tuple[BackgroundWork, list[int]]:
    done: list[int] = []
    return BackgroundWork(time, "test", lambda: done.append(time.now_us), **options), done


def test_one_run_serves_all_requests_until_then(time: VirtualTime) -> None:
    """The run begins some time after the first request; a request after this begin starts another run."""
    work, done = _noted(time, wait_us=100)
    work.ask()
    time.advance_us(40)
    work.ask()
    assert work.asked
    time.advance_us(1_000)
    assert (done, work.asked) == ([1_100], False)
    work.ask()
    time.advance_us(100)
    assert done == [1_100, 2_140]


def test_it_pauses_from_one_beginning_to_the_next(time: VirtualTime) -> None:
    """Two runs begin at least a pause apart; if the pause is over, a run begins at once."""
    work, done = _noted(time, pause_us=100)
    work.ask()
    time.advance_us(100)
    work.ask()
    time.advance_us(99)
    assert done == [1_100]
    time.advance_us(101)
    work.ask()
    time.advance_us(0)
    assert done == [1_100, 1_200, 1_300]


def test_a_request_during_a_run_starts_another_run(time: VirtualTime) -> None:
    """A request during a run starts another run, since the first may have missed its data."""
    done: list[int] = []

    def do() -> None:
        done.append(time.now_us)
        if len(done) == 1:
            work.ask()

    work = BackgroundWork(time, "test", do, wait_us=100)
    work.ask()
    time.advance_us(1_000)
    assert done == [1_100, 1_200]


def test_no_run_begins_after_closing(time: VirtualTime) -> None:
    """Closing leaves no alarm armed."""
    for asks in (False, True):
        work, done = _noted(time, wait_us=100)
        if asks:
            work.ask()
        work.close()
        work.close()
        work.ask()
        assert time.alarms == 0
    time.advance_us(1_000)
    assert done == []


def test_in_a_forked_child_it_is_not_done(time: VirtualTime) -> None:
    """In a forked child the work is not run, since its thread exists only in the parent."""
    work, done = _noted(time, wait_us=100)
    work.ask()
    work.disown()
    time.advance_us(1_000)
    work.ask()
    assert (done, time.alarms) == ([], 0)

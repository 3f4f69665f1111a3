"""If no thread can be started: events are delivered without a lock, missing timers are logged, votes are lowered."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from support.bench import Bench
from support.hanging import WAIT_S, join, start_no_thread, started, until

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.time.scheduler import SystemTime
from htppower.events import Event, HoldBegan, Transition
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    import pytest

HOUR_US = 3_600_000_000


def test_a_subscriber_is_told_with_no_lock_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events come in order on the session's thread, and another thread can use the controller during the call."""
    start = threading.Thread.start
    told: list[Event] = []
    waits: list[bool] = []

    def none_for_events(thread: threading.Thread) -> None:
        if thread.name.startswith("htppower-events"):
            start_no_thread(thread)
        start(thread)

    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False, heartbeat_us=0) as controller:
        session = controller.session("burst")
        monkeypatch.setattr(threading.Thread, "start", none_for_events)

        def subscriber(event: Event) -> None:
            told.append(event)
            asking = threading.Thread(target=controller.status)
            asking.start()
            asking.join(WAIT_S)
            waits.append(asking.is_alive())

        controller.subscribe(subscriber, (Transition, HoldBegan))
        with session.inference():
            pass
        session.hold("burst", reason="test", timeout_us=HOUR_US)
        assert waits == [False] * len(told)
        assert [type(event) for event in told] == [Transition, HoldBegan]
        monkeypatch.undo()
        session.close()
        controller.flush_events(WAIT_S)
        assert [event.order for event in told] == sorted(event.order for event in told)
        assert isinstance(told[-1], Transition)
        assert told[-1].dest is State.DESTROYED


def test_what_has_no_timer_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A ticket and a hold continue without their timeout, and a record is logged for each."""
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False, heartbeat_us=0) as controller:
        session = controller.session("burst")
        with monkeypatch.context() as patch:
            patch.setattr(SystemTime, "call_at", lambda time, *_: start_no_thread(time))
            ticket = session.begin(timeout_us=HOUR_US)
            hold = session.hold("burst", reason="test", timeout_us=HOUR_US)
        assert ticket.active
        assert hold.active
        said = [record.getMessage() for record in caplog.records if "no timer" in record.getMessage()]
        assert [words.partition(",")[0] for words in said] == [
            "no timer for the timeout of a ticket",
            "no timer for the timeout of a hold",
        ]
        ticket.end()


def test_votes_come_down_although_the_thread_of_the_timer_can_not_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the thread that wakes alarms can't be started, the session is lowered all the same."""
    start = threading.Thread.start

    def none_for_the_timer(thread: threading.Thread) -> None:
        if thread.name == "APScheduler":
            start_no_thread(thread)
        start(thread)

    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False, heartbeat_us=0) as controller:
        monkeypatch.setattr(threading.Thread, "start", none_for_the_timer)
        session = controller.session("burst")
        with session.inference():
            pass
        until(lambda: session.state is State.LOWERED)


def test_an_inference_that_begins_as_no_timer_can_be_armed_keeps_its_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inference that begins between the failed timer and the lowering keeps its votes."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(100_000)
    bench.infer(session)
    running = session.inference()
    call_at = VirtualTime.call_at

    def begin_meanwhile(time: VirtualTime, deadline_us: int, action: object) -> object:
        monkeypatch.setattr(VirtualTime, "call_at", call_at)
        join(*started(running.__enter__))
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(VirtualTime, "call_at", begin_meanwhile)
    bench.time.advance_us(200_000)
    assert (session.in_flight, session.state) == (1, State.RAISED)
    bench.time.advance_us(HOUR_US)
    assert session.state is State.RAISED
    running.__exit__(None, None, None)


def test_a_timer_that_can_not_be_armed_lowers_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """If no alarm can be armed, votes are lowered at the end of the inference, and the failure is logged."""

    class Broken(VirtualTime):
        def call_at(self, deadline_us: int, action: object) -> int:
            raise RuntimeError("can't start new thread")

    time = Broken()
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, time=time, handle_sigterm=False)
    session = controller.session("burst")
    with session.inference():
        assert session.state is State.RAISED
    assert session.state is State.LOWERED
    assert "no timer" in caplog.text
    controller.close()

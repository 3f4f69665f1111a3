"""Events: their order, lateness, saves, and unknown states."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, Bench

from htppower import Lowering, VoteRejected, load_profile
from htppower.control.time.workers import ThreadWorker
from htppower.events import CallMade, CallsSaved, Event, Recovered, Transition

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile


def in_background() -> Profile:
    """Return high_performance with lowering in the background."""
    profile = load_profile("high_performance")
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, lowering=Lowering.BACKGROUND))


def told(bench: Bench, kind: type[Event]) -> list[Event]:
    """Return a list that collects the events of a kind from now on."""
    events: list[Event] = []
    bench.controller.subscribe(events.append, kind)
    return events


def test_a_subscriber_that_uses_the_controller_changes_no_order() -> None:
    """An event caused by a subscriber reaches all subscribers after the event that caused it."""
    bench = Bench.make()
    other = bench.controller.session("balanced")

    def use(event: Event) -> None:
        if isinstance(event, Transition) and event.session != other.number:
            with other.inference():
                pass

    bench.controller.subscribe(use)
    later = told(bench, Event)
    session = bench.controller.session("burst")
    bench.infer(session)
    orders = [event.order for event in later]
    assert len(orders) >= 8
    assert orders == list(range(orders[0], orders[0] + len(orders)))


def test_a_subscription_to_what_is_no_event_is_refused() -> None:
    """A wrong kind is a TypeError at the subscription, never during a vote."""
    bench = Bench.make()
    with pytest.raises(TypeError, match="kinds of events"):
        bench.controller.subscribe(print, kinds=["Transition"])  # type: ignore[list-item]
    bench.controller.subscribe(print, kinds=[Recovered])
    session = bench.controller.session("burst")
    bench.infer(session)


def test_lateness_is_told_of_alarms_only() -> None:
    """A lowering by the timer or in the background has a lateness; a lowering by the caller has no deadline."""
    bench = Bench.make()
    transitions = told(bench, Transition)
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.sleep((BURST_SUSTAIN_US + 700) / 1_000_000)
    bench.time.advance_us(0)
    session.use(in_background())
    bench.infer(session)
    bench.time.advance_us(0)
    session.use("high_performance")
    bench.infer(session)
    lowered = [event for event in transitions if isinstance(event, Transition) and event.trigger == "lower"]
    assert [event.late_us for event in lowered] == [700, 0, None]


def test_saves_are_told_once_when_the_votes_come_down() -> None:
    """Five inferences in a window save four raises and four lowerings; a second window counts from 0."""
    bench = Bench.make()
    saves = told(bench, CallsSaved)
    session = bench.controller.session("burst")
    for count in (5, 1, 3):
        for _ in range(count):
            bench.infer(session)
        bench.time.advance_us(BURST_SUSTAIN_US)
    assert [(event.inferences, event.calls) for event in saves if isinstance(event, CallsSaved)] == [(4, 8), (2, 4)]
    (status,) = bench.controller.status().sessions
    assert status.calls_saved == 12


def test_a_recovery_tells_for_how_long_the_votes_were_not_known() -> None:
    """A successful retry after a failed raise is a recovery, with the time in between."""
    bench = Bench.make()
    recovered = told(bench, Recovered)
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13000)
    with session.inference():
        bench.time.advance_us(1_000_000)
    assert [event.unknown_us for event in recovered if isinstance(event, Recovered)] == [1_000_000]


def test_every_native_call_is_an_event_with_its_code() -> None:
    """The events are the calls that the recorder saw, including failed ones with their code."""
    bench = Bench.make()
    calls = told(bench, CallMade)
    bench.simulated.fail_next(13003)
    with bench.controller.session("burst") as session:
        bench.infer(session)
    assert [(call.function, call.power_config_id, call.code) for call in calls if isinstance(call, CallMade)] == [
        (call.function, call.power_config_id, call.code) for call in bench.recorder.calls
    ]


def test_what_init_leaves_in_doubt_is_not_known_on_the_core() -> None:
    """After INIT during an inference the votes may be lost, so the core lists the session as unknown."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    with session.inference():
        with session.init():
            pass
        (core,) = bench.controller.status().cores
        assert core.unknown == (session.number,)
    with session.inference():
        (core,) = bench.controller.status().cores
        assert (core.unknown, core.decided_by["core"]) == ((), (session.number,))


def test_an_error_that_is_raised_is_a_copy_of_the_one_that_is_kept() -> None:
    """The error in status has no traceback, so it keeps no frame of the host alive."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13000)
    with pytest.raises(VoteRejected) as caught, session.inference():
        pass
    last = bench.controller.status().sessions[0].last_error
    assert last is not None
    assert last.error is not caught.value
    assert (str(last.error), last.error.__traceback__) == (str(caught.value), None)


def test_a_worker_outlives_a_log_that_raises() -> None:
    """The thread of alarms and events continues after an action raises, even if the log's filter raises too."""
    logger = logging.Logger("raising")  # noqa: LOG001 - a separate logger, which no other test sees

    class Broken(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise OSError("the log is gone")

    logger.addFilter(Broken())
    worker = ThreadWorker("test", logger)
    ran = threading.Event()

    def broken() -> None:
        raise RuntimeError("mine")

    worker.post(broken)
    worker.post(ran.set)
    assert ran.wait(10)
    worker.close()
    assert worker.flush(10)

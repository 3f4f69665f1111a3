"""Subscribers have threads of their own: order, context and errors of their calls."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import logging
import threading

import attrs
import pytest
from support.bench import use_sessions
from support.hanging import WAIT_S, Hang, join, started

from htppower import VoteController, load_profile
from htppower.control.event_bus import EventBus
from htppower.events import CallMade, CapSet, Event, SessionOpened, Transition
from htppower.testing import VirtualTime

THREADS = 8
ROUNDS = 25

REQUEST: contextvars.ContextVar[str | None] = contextvars.ContextVar("request", default=None)


def test_a_subscriber_may_use_the_controller(controller: VoteController) -> None:
    """A subscriber is called without a lock, so it may ask for the status or open a session."""
    seen: list[int] = []

    def look(event: Event) -> None:
        if isinstance(event, SessionOpened) and event.owner is None:
            seen.append(len(controller.status().sessions))
            with controller.session("high_performance", owner="from within") as session, session.inference():
                pass

    controller.subscribe(look)
    opened = controller.session("high_performance")
    assert controller.flush_events(WAIT_S)
    assert (seen, opened.owner) == ([1], None)


def test_one_that_raises_is_logged_and_goes_on(controller: VoteController, caplog: pytest.LogCaptureFixture) -> None:
    """Each error of a subscriber is an ERROR record with a traceback; all subscribers get the next event."""
    tried: list[Event] = []
    told: list[Event] = []

    def broken(event: Event) -> None:
        tried.append(event)
        raise RuntimeError("mine")

    controller.subscribe(broken, (Transition,))
    controller.subscribe(told.append, (Transition,))
    use_sessions(controller, 2)
    assert controller.flush_events(WAIT_S)
    assert tried == told
    assert len(told) == 6
    records = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(records) == 6
    assert all("broken" in record.getMessage() and record.exc_info for record in records)


def test_closing_delivers_everything_to_the_others(controller: VoteController) -> None:
    """A subscriber that is quick enough has the last event when ``close`` returns."""
    told: list[Event] = []
    controller.subscribe(told.append)
    controller.session("burst")
    controller.close()
    assert [event.order for event in told] == list(range(1, len(told) + 1))
    assert [getattr(event, "dest", None) for event in told][-1] == "DESTROYED"


def test_events_of_many_threads_come_in_order(controller: VoteController) -> None:
    """With events from eight threads, every subscriber gets each event once, in order, on one thread."""
    told: list[Event] = []
    calls: list[Event] = []
    on: set[str] = set()
    start = threading.Barrier(THREADS)

    def note(event: Event) -> None:
        told.append(event)
        on.add(threading.current_thread().name)

    def work() -> None:
        start.wait(WAIT_S)
        use_sessions(controller, ROUNDS)

    controller.subscribe(note)
    controller.subscribe(calls.append, (CallMade,))
    join(*started(*[work] * THREADS))
    assert controller.flush_events(WAIT_S)
    # If two threads change the settings of the process at the same time, there is one more call.
    assert [event.order for event in told] == list(range(1, len(told) + 1))
    assert len(told) >= THREADS * ROUNDS * 8
    assert all(one.time_us <= other.time_us for one, other in itertools.pairwise(told))
    assert calls == [event for event in told if isinstance(event, CallMade)]
    assert on == {"htppower-events-note"}


def test_events_can_not_be_changed(controller: VoteController) -> None:
    """Events of every kind are frozen, so a subscriber can't change them for other subscribers."""
    told: list[Event] = []
    controller.subscribe(told.append)
    use_sessions(controller, 1)
    assert controller.flush_events(WAIT_S)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        told[0].order = 0  # type: ignore[misc]
    assert all(kind.__setattr__ is not object.__setattr__ for kind in Event.__subclasses__())


def test_what_is_told_while_another_thread_delivers_is_delivered_by_that() -> None:
    """An event that is made while another thread delivers events is delivered by that thread; nothing waits."""
    told: list[Event] = []
    hang = Hang()
    bus = EventBus(VirtualTime())

    def subscriber(event: Event) -> None:
        told.append(event)
        if not hang.begun.is_set():
            hang()

    def tell() -> None:
        bus.tell(CapSet, None, cap="balanced", reason="test")
        bus.deliver()

    bus.add(subscriber, lambda _kind, _details: True)
    first = threading.Thread(target=tell)
    first.start()
    assert hang.begun.wait(WAIT_S)
    tell()
    assert len(told) == 1
    hang.let_go.set()
    first.join(WAIT_S)
    assert [event.order for event in told] == [1, 2]


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_no_thread_is_started_in_the_context_of_a_request(
    controller: VoteController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new thread copies the context of the thread that starts it, and so would keep a request alive."""
    started: dict[str, str | None] = {}

    class Noted(threading.Thread):
        def start(self) -> None:
            started[self.name] = REQUEST.get()
            super().start()

    monkeypatch.setattr(threading, "Thread", Noted)
    controller.subscribe(lambda _event: None, Transition)
    session = controller.session("burst")

    def ask() -> None:
        REQUEST.set("request")
        with session.inference():
            pass

    contextvars.copy_context().run(ask)
    assert len(started) > 2
    assert set(started.values()) == {None}


def test_a_subscriber_may_be_called_in_the_context_of_the_event(controller: VoteController) -> None:
    """With ``in_context`` a subscriber sees the variables that were set where the inference began."""
    inside: list[str | None] = []
    outside: list[str | None] = []
    controller.subscribe(lambda _event: inside.append(REQUEST.get()), Transition, in_context=True)
    controller.subscribe(lambda _event: outside.append(REQUEST.get()), Transition)
    burst = load_profile("burst")
    assert burst.relax is not None
    session = controller.session(attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=0)))

    async def request() -> None:
        REQUEST.set("coroutine")
        async with session.ainference():
            pass

    def ask() -> None:
        REQUEST.set("thread")
        with session.inference():
            pass

    contextvars.copy_context().run(ask)
    asyncio.run(request())
    assert controller.flush_events(WAIT_S)
    assert set(inside) == {"thread", "coroutine"}
    assert set(outside) == {None}


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, asyncio.CancelledError, ValueError])
def test_a_subscriber_that_raises_anything_is_told_of_each_event_once(kind: type[BaseException]) -> None:
    """Any exception of a subscriber, even KeyboardInterrupt, is logged, and the next event is delivered."""
    orders: list[int] = []

    def fail(event: Event) -> None:
        orders.append(event.order)
        raise kind

    with VoteController("simulated", handle_sigterm=False) as controller:
        controller.subscribe(fail)
        controller.session("burst").close()
        assert controller.flush_events(30)
        assert len(orders) > 1
        assert orders == sorted(set(orders))

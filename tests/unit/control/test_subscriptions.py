"""Subscribers on threads of their own: they are told everything in order, and no vote waits for one of them."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import logging
import threading
from typing import TYPE_CHECKING, ClassVar

import attrs
import pytest

import htppower.control.controller
import htppower.control.event_bus
from htppower import VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.control.event_bus import EventBus, Subscription
from htppower.events import CallMade, CapSet, Event, SessionOpened, Transition
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Far more than anything here takes, on a busy machine, too.
LONG_S = 30
THREADS = 8
ROUNDS = 25


@attrs.define
class Blocked:
    """A subscriber that waits, in its first event, until it is let go on."""

    entered: threading.Event = attrs.field(factory=threading.Event)
    go_on: threading.Event = attrs.field(factory=threading.Event)
    told: list[Event] = attrs.field(factory=list)

    def __call__(self, event: Event) -> None:
        """Wait, then note the event."""
        self.entered.set()
        self.go_on.wait(LONG_S)
        self.told.append(event)


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    """Yield a subscriber that waits; it is let go on in the end."""
    made = Blocked()
    yield made
    made.go_on.set()


@pytest.fixture
def controller() -> Iterator[VoteController]:
    """Yield a controller in real time, which is closed afterwards."""
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as made:
        yield made


REQUEST: contextvars.ContextVar[str | None] = contextvars.ContextVar("request", default=None)


def _within(work: Callable[[], object]) -> bool:
    """Run the work on a thread, and return whether it came to its end."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG_S)
    return not thread.is_alive()


def _work(controller: VoteController, rounds: int) -> None:
    """Open, raise, lower and close: eight events each time, four of them native calls."""
    for _ in range(rounds):
        with controller.session("high_performance") as session, session.inference():
            pass


def test_a_subscriber_that_hangs_delays_no_vote(controller: VoteController, blocked: Blocked) -> None:
    """While one waits, sessions open, raise, lower and close, others are told, and what it missed reaches it later."""
    told: list[Event] = []
    controller.subscribe(blocked)
    controller.subscribe(told.append)
    assert _within(lambda: _work(controller, 1))
    assert blocked.entered.wait(LONG_S)
    assert _within(lambda: _work(controller, 20))
    assert not controller.flush_events(0)
    assert blocked.told == []
    blocked.go_on.set()
    assert controller.flush_events(LONG_S)
    assert blocked.told == told
    assert len(told) == 21 * 8


def test_a_subscriber_that_hangs_delays_no_status(controller: VoteController, blocked: Blocked) -> None:
    """Status, subscribing and a change of profile do not wait for it either."""
    controller.subscribe(blocked)
    session = controller.session("burst")
    assert blocked.entered.wait(LONG_S)
    assert _within(controller.status)
    assert _within(lambda: controller.subscribe(lambda _event: None))
    assert _within(lambda: session.use("balanced"))


def test_a_subscriber_may_use_the_controller(controller: VoteController) -> None:
    """It holds no lock: a status from within, or a session, is no deadlock."""
    seen: list[int] = []

    def look(event: Event) -> None:
        if isinstance(event, SessionOpened) and event.owner is None:
            seen.append(len(controller.status().sessions))
            with controller.session("high_performance", owner="from within") as session, session.inference():
                pass

    controller.subscribe(look)
    controller.session("high_performance")
    assert controller.flush_events(LONG_S)
    assert seen == [1]


def test_one_that_raises_is_logged_and_goes_on(controller: VoteController, caplog: pytest.LogCaptureFixture) -> None:
    """Each event that it raised on is an ERROR record with its traceback; it gets the next, and so do the others."""
    tried: list[Event] = []
    told: list[Event] = []

    def broken(event: Event) -> None:
        tried.append(event)
        raise RuntimeError("mine")

    controller.subscribe(broken, (Transition,))
    controller.subscribe(told.append, (Transition,))
    _work(controller, 2)
    assert controller.flush_events(LONG_S)
    assert tried == told
    assert len(told) == 6
    records = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(records) == 6
    assert all("broken" in record.getMessage() and record.exc_info for record in records)


def test_beyond_a_bound_events_are_lost_and_counted(
    controller: VoteController, blocked: Blocked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Of one that hangs, no more than the bound wait; the rest is counted, told in the log, and a gap in the order."""
    monkeypatch.setattr(htppower.control.event_bus, "MOST_PENDING", 10)
    told: list[Event] = []
    controller.subscribe(blocked)
    session = controller.session("high_performance")
    assert blocked.entered.wait(LONG_S)
    # One event was taken, and one waits: room is left for nine.
    for _ in range(5):
        with session.inference():
            pass
    lost = controller.status().events_lost
    assert lost == 5 * 4 - 9
    blocked.go_on.set()
    assert controller.flush_events(LONG_S)
    assert [event.order for event in blocked.told] == list(range(1, 12))
    controller.subscribe(told.append)
    with session.inference():
        pass
    assert controller.flush_events(LONG_S)
    assert blocked.told[11].order == 11 + lost + 1
    assert controller.status().events_lost == lost
    assert "is too slow" in caplog.text
    assert len(told) == 4


def test_the_bound_is_as_documented() -> None:
    """Ten thousand events wait at most."""
    assert htppower.control.event_bus.MOST_PENDING == 10_000


def test_unsubscribing_delivers_what_came_before(controller: VoteController, blocked: Blocked) -> None:
    """It returns when the subscriber was told everything up to then; of what comes later it is told nothing."""
    unsubscribe = controller.subscribe(blocked)
    _work(controller, 1)
    assert blocked.entered.wait(LONG_S)
    ended = threading.Thread(target=unsubscribe)
    ended.start()
    blocked.go_on.set()
    ended.join(LONG_S)
    assert [event.order for event in blocked.told] == list(range(1, 9))
    _work(controller, 1)
    unsubscribe()
    assert len(blocked.told) == 8


def test_closing_does_not_wait_for_one_that_hangs(blocked: Blocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """close() lowers and destroys first, waits no longer than its bound, and the rest is delivered all the same."""
    monkeypatch.setattr(htppower.control.controller, "LONGEST_FLUSH_S", 0.01)
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, handle_sigterm=False)
    controller.subscribe(blocked)
    running = controller.session("burst").inference()
    running.__enter__()
    assert blocked.entered.wait(LONG_S)
    assert _within(controller.close)
    assert simulated.power_config_ids == ()
    assert blocked.told == []
    (thread,) = [each for each in threading.enumerate() if each.name == "htppower-events-Blocked"]
    blocked.go_on.set()
    thread.join(LONG_S)
    assert [getattr(event, "dest", None) for event in blocked.told][-1] == "DESTROYED"


def test_closing_delivers_everything_to_the_others(controller: VoteController) -> None:
    """Whoever keeps up has been told of the last event when close returns."""
    told: list[Event] = []
    controller.subscribe(told.append)
    controller.session("burst")
    controller.close()
    assert [event.order for event in told] == list(range(1, len(told) + 1))
    assert [getattr(event, "dest", None) for event in told][-1] == "DESTROYED"


def test_events_of_many_threads_come_in_order(controller: VoteController) -> None:
    """From eight threads at once, every subscriber sees each event once, in one order, on a single thread."""
    told: list[Event] = []
    calls: list[Event] = []
    on: set[str] = set()
    start = threading.Barrier(THREADS)

    def note(event: Event) -> None:
        told.append(event)
        on.add(threading.current_thread().name)

    def work() -> None:
        start.wait(LONG_S)
        _work(controller, ROUNDS)

    controller.subscribe(note)
    controller.subscribe(calls.append, (CallMade,))
    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert controller.flush_events(LONG_S)
    # Two threads may change the settings of the process at once: a call more.
    assert [event.order for event in told] == list(range(1, len(told) + 1))
    assert len(told) >= THREADS * ROUNDS * 8
    assert all(one.time_us <= other.time_us for one, other in itertools.pairwise(told))
    assert calls == [event for event in told if isinstance(event, CallMade)]
    assert on == {"htppower-events-note"}


def test_events_can_not_be_changed(controller: VoteController) -> None:
    """An event is frozen, so that no subscriber changes it under another; this holds for each kind there is."""
    told: list[Event] = []
    controller.subscribe(told.append)
    _work(controller, 1)
    assert controller.flush_events(LONG_S)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        told[0].order = 0  # type: ignore[misc]
    assert all(kind.__setattr__ is not object.__setattr__ for kind in Event.__subclasses__())


class _EndsMeanwhile(EventBus):
    """Another thread delivers, and ends that just after this one has seen that it does."""

    seen = True

    @property
    def _delivering(self) -> bool:
        seen, self.seen = self.seen, False
        return seen

    @_delivering.setter
    def _delivering(self, delivering: bool) -> None:
        self.seen = delivering


def test_what_is_told_as_another_thread_ends_delivering_is_delivered() -> None:
    """Who leaves an event to a thread that delivers does not keep that one from looking again."""
    told: list[Event] = []
    bus = _EndsMeanwhile(VirtualTime())
    bus.add(told.append, lambda _kind, _details: True)
    bus.seen = True
    bus.tell(CapSet, None, cap="balanced", reason="test")
    bus.deliver()
    assert told == []
    bus.deliver()
    assert [type(event) for event in told] == [CapSet]


class _Removing(tuple[Subscription, ...]):
    """The subscriptions, among which somebody asks how many events are lost while one of them is removed."""

    __slots__ = ()
    asks: ClassVar[Callable[[], object]] = staticmethod(lambda: None)

    def __iter__(self) -> Iterator[Subscription]:
        asks, _Removing.asks = _Removing.asks, staticmethod(lambda: None)
        asks()
        return super().__iter__()


def test_events_that_were_lost_are_counted_once_while_their_subscriber_is_removed() -> None:
    """A total that was too high for a moment would be one for good, where it is kept from falling."""
    bus, seen = EventBus(VirtualTime()), list[int]()
    subscription = bus.add(lambda _event: None, lambda _kind, _details: True)
    subscription.lost = 5
    bus._subscriptions = _Removing(bus._subscriptions)
    other = threading.Thread(target=lambda: seen.append(bus.lost))

    def asks() -> None:
        other.start()
        other.join(0.05)

    _Removing.asks = staticmethod(asks)
    bus.remove(subscription)
    other.join(LONG_S)
    assert seen == [5]


def test_no_thread_is_started_in_the_context_of_a_request(
    controller: VoteController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where threads have a copy of the context in which they are started, they would keep the request alive."""
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
    controller._time.spawn(lambda: None)
    assert len(started) > 2
    assert set(started.values()) == {None}


def test_a_subscriber_may_be_called_in_the_context_of_the_event(controller: VoteController) -> None:
    """It finds what was set where the inference began, on a thread or in a coroutine; another subscriber does not."""
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
    assert controller.flush_events(LONG_S)
    assert set(inside) == {"thread", "coroutine"}
    assert set(outside) == {None}

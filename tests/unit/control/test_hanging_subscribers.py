"""Subscribers that hang: votes, status and closing do not wait for them, and their events are delivered later."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

import attrs
import pytest
from support.bench import use_sessions
from support.hanging import WAIT_S, join, started
from support.inside import replace_subscriptions

import htppower.control.controller
import htppower.control.event_bus
from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.control.event_bus import EventBus, Subscription
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.events import Event


@attrs.define
class Blocked:
    """A subscriber that waits in its first event until the test lets it continue."""

    entered: threading.Event = attrs.field(factory=threading.Event)
    go_on: threading.Event = attrs.field(factory=threading.Event)
    told: list[Event] = attrs.field(factory=list)

    def __call__(self, event: Event) -> None:
        """Wait, then note the event."""
        self.entered.set()
        self.go_on.wait(WAIT_S)
        self.told.append(event)


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    """Yield a subscriber that waits; let it continue at the end."""
    made = Blocked()
    yield made
    made.go_on.set()


def _within(work: Callable[[], object]) -> bool:
    """Run the work on a thread, and return whether it ended in time."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(WAIT_S)
    return not thread.is_alive()


def test_a_subscriber_that_hangs_delays_no_vote(controller: VoteController, blocked: Blocked) -> None:
    """Sessions open, raise, lower and close, other subscribers get their events, and the hanging one gets its later."""
    told: list[Event] = []
    controller.subscribe(blocked)
    controller.subscribe(told.append)
    assert _within(lambda: use_sessions(controller, 1))
    assert blocked.entered.wait(WAIT_S)
    assert _within(lambda: use_sessions(controller, 20))
    assert not controller.flush_events(0)
    assert blocked.told == []
    blocked.go_on.set()
    assert controller.flush_events(WAIT_S)
    assert blocked.told == told
    assert len(told) == 21 * 11


def test_a_subscriber_that_hangs_delays_no_status(controller: VoteController, blocked: Blocked) -> None:
    """Status, subscribing and a change of profile do not wait for a subscriber that hangs."""
    controller.subscribe(blocked)
    session = controller.session("burst")
    assert blocked.entered.wait(WAIT_S)
    assert _within(controller.status)
    assert _within(lambda: controller.subscribe(lambda _event: None))
    assert _within(lambda: session.use("balanced"))


def test_beyond_a_bound_events_are_lost_and_counted(
    controller: VoteController, blocked: Blocked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Up to a limit, events wait for a subscriber; others are lost, counted, logged, and leave a gap in ``order``."""
    monkeypatch.setattr(htppower.control.event_bus, "MOST_PENDING", 10)
    told: list[Event] = []
    controller.subscribe(blocked)
    session = controller.session("high_performance")
    assert blocked.entered.wait(WAIT_S)
    # One event is in the subscriber and one waits, so there is room for nine.
    for _ in range(5):
        with session.inference():
            pass
    lost = controller.status().events_lost
    assert lost == 5 * 7 - 9
    blocked.go_on.set()
    assert controller.flush_events(WAIT_S)
    assert [event.order for event in blocked.told] == list(range(1, 12))
    controller.subscribe(told.append)
    with session.inference():
        pass
    assert controller.flush_events(WAIT_S)
    assert blocked.told[11].order == 11 + lost + 1
    assert controller.status().events_lost == lost
    assert "is too slow" in caplog.text
    assert len(told) == 7


def test_the_bound_is_as_documented() -> None:
    """At most ten thousand events wait."""
    assert htppower.control.event_bus.MOST_PENDING == 10_000


def test_unsubscribing_delivers_what_came_before(controller: VoteController, blocked: Blocked) -> None:
    """``unsubscribe`` returns when the subscriber has all earlier events; later events are not delivered."""
    unsubscribe = controller.subscribe(blocked)
    use_sessions(controller, 1)
    assert blocked.entered.wait(WAIT_S)
    ended = started(unsubscribe)
    blocked.go_on.set()
    join(*ended)
    assert [event.order for event in blocked.told] == list(range(1, 12))
    use_sessions(controller, 1)
    unsubscribe()
    assert len(blocked.told) == 11


def test_closing_does_not_wait_for_one_that_hangs(blocked: Blocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """``close`` lowers and destroys first, then waits for subscribers up to a limit; they get their events later."""
    monkeypatch.setattr(htppower.control.controller, "LONGEST_FLUSH_S", 0.01)
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, handle_sigterm=False)
    controller.subscribe(blocked)
    running = controller.session("burst").inference()
    running.__enter__()
    assert blocked.entered.wait(WAIT_S)
    assert _within(controller.close)
    assert simulated.power_config_ids == ()
    assert blocked.told == []
    (thread,) = [each for each in threading.enumerate() if each.name == "htppower-events-Blocked"]
    blocked.go_on.set()
    thread.join(WAIT_S)
    assert [getattr(event, "dest", None) for event in blocked.told][-1] == "DESTROYED"


class _Removing(tuple[Subscription, ...]):
    """A tuple of subscriptions that calls ``asks`` before it is iterated."""

    __slots__ = ()
    asks: ClassVar[Callable[[], object]] = staticmethod(lambda: None)

    def __iter__(self) -> Iterator[Subscription]:
        asks, _Removing.asks = _Removing.asks, staticmethod(lambda: None)
        asks()
        return super().__iter__()


def test_events_that_were_lost_are_counted_once_while_their_subscriber_is_removed() -> None:
    """If another thread reads the total during the removal, lost events are not counted twice."""
    bus, seen = EventBus(VirtualTime()), list[int]()
    subscription = bus.add(lambda _event: None, lambda _kind, _details: True)
    subscription.lost = 5
    replace_subscriptions(bus, _Removing)
    other = threading.Thread(target=lambda: seen.append(bus.lost))

    def asks() -> None:
        other.start()
        other.join(0.05)

    _Removing.asks = staticmethod(asks)
    bus.remove(subscription)
    other.join(WAIT_S)
    assert seen == [5]

"""The event bus: passes events to subscribers in order. Each subscriber has its own worker."""

from __future__ import annotations

import contextvars
import functools
import logging
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.events import Event

if TYPE_CHECKING:
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.control.time.workers import Worker

_LOGGER = logging.getLogger("htppower")

# A subscriber that hangs must not fill the memory. A busy host makes a few thousand events in a second.
MOST_PENDING = 10_000
# How long the end of a subscription waits for pending events; a close waits as long after the votes are down.
LONGEST_FLUSH_S = 1.0

# A filter: decides by kind and fields whether a subscriber gets an event. If no subscriber wants an event, it is not
# made.
Wants = Callable[[type[Event], Mapping[str, Any]], bool]

_OF_CONTROLLER: Mapping[str, Any] = MappingProxyType({"session": 0, "owner": None, "profile": ""})


@attrs.define(eq=False, repr=False)
class Subscription:
    """One subscriber, with its filter and its queue.

    Args:
        subscriber: called with every event, in order, one at a time; its exceptions are logged.
        wants: the filter; called with locks held, so it must be quick.
        worker: runs the calls of the subscriber.
        in_context: whether the subscriber is called in a copy of the context (``contextvars``) of the code that caused
            the event.

    Attributes:
        lost: how many events were not delivered, because too many were pending.
    """

    _subscriber: Callable[[Event], object]
    _wants: Wants
    _worker: Worker
    in_context: bool = False
    lost: int = attrs.field(init=False, default=0)
    _lost_told: int = attrs.field(init=False, default=0)

    @property
    def inline(self) -> bool:
        """Whether the subscriber is called on the thread that delivers."""
        return self._worker.inline

    def wants(self, kind: type[Event], details: Mapping[str, Any]) -> bool:
        """Return whether the subscriber gets an event. If its filter raises an error, it does not get the event."""
        try:
            return self._wants(kind, details)
        except Exception:  # noqa: BLE001 - no vote may fail because of a subscriber
            self.lost += 1
            return False

    def hand(self, event: Event, context: contextvars.Context | None) -> None:
        """Put an event into the queue without waiting; if too many are pending, the event is lost."""
        try:
            full = self._worker.pending >= MOST_PENDING
            if not full:
                tell = functools.partial(self._tell, event)
                self._worker.post(tell if context is None else functools.partial(context.run, tell))
        except Exception:  # noqa: BLE001 - as above
            full = True
        # The worker logs the loss, not this thread: it holds a lock, and writing a log may be slow.
        self.lost += full

    def flush(self, timeout_s: float) -> bool:
        """Wait until the queue is empty; return whether it is within the timeout."""
        return self._worker.flush(timeout_s)

    def close(self) -> None:
        """Deliver pending events, and accept no more."""
        self._worker.close()

    def _tell(self, event: Event) -> None:
        if self.lost != self._lost_told:
            self._lost_told = self.lost
            _LOGGER.error("the subscriber %r is too slow: it has lost %d events so far", self._subscriber, self.lost)
        try:
            self._subscriber(event)
        except Exception:
            _LOGGER.exception("the subscriber %r failed on %r", self._subscriber, event)


class EventBus:
    """Makes events, and passes them to all subscribers in the same order. The line is held for ``tell``."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._order = 0
        # The tuple is replaced under the lock, and never changed. No subscriber is called while the lock is held.
        self._subscriptions: tuple[Subscription, ...] = ()
        self._changing = whole_lock()
        self._lost_before = 0
        self._undelivered: deque[tuple[Subscription, Event, contextvars.Context | None]] = deque()
        # Held by the thread that delivers to subscribers without a thread, so that only one thread does so.
        self._delivering = allocate_lock()

    @property
    def lost(self) -> int:
        """How many events were lost to subscribers that were too slow."""
        with self._changing:
            return self._lost_before + sum(each.lost for each in self._subscriptions)

    def add(self, subscriber: Callable[[Event], object], wants: Wants, *, in_context: bool = False) -> Subscription:
        """Add a subscriber. The name of the subscriber becomes part of the name of its thread."""
        name = getattr(subscriber, "__name__", type(subscriber).__name__)
        made = Subscription(subscriber, wants, self._time.worker(f"htppower-events-{name}"), in_context=in_context)
        with self._changing:
            self._subscriptions = (*self._subscriptions, made)
        return made

    def subscribe(
        self, subscriber: Callable[[Event], object], wants: Wants, *, in_context: bool = False
    ) -> Callable[[], None]:
        """Add a subscriber; return a function that removes it, and waits until its queue is empty."""
        subscription = self.add(subscriber, wants, in_context=in_context)

        def unsubscribe() -> None:
            if self.remove(subscription):
                subscription.flush(LONGEST_FLUSH_S)

        return unsubscribe

    def remove(self, subscription: Subscription) -> bool:
        """Remove a subscription, and return whether it was there; pending events are still delivered."""
        subscription.close()
        with self._changing:
            if subscription not in self._subscriptions:
                return False
            self._lost_before += subscription.lost
            self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)
        return True

    def flush(self, timeout_s: float) -> bool:
        """Wait until all queues are empty; return whether they are within the timeout."""
        end_us = self._time.now_us + round(timeout_s * 1_000_000)
        waited = [each.flush(max(0, end_us - self._time.now_us) / 1_000_000) for each in self._subscriptions]
        return all(waited)

    def close(self) -> None:
        """Remove all subscribers."""
        for subscription in self._subscriptions:
            self.remove(subscription)

    def disown(self) -> None:
        """In a forked child: leave the threads of the subscribers to the parent."""
        self._changing = whole_lock()
        self._subscriptions = ()

    def tell(self, kind: type[Event], session: SessionRecord | None, **details: Any) -> None:
        """Make an event of a session, or (None) of the controller itself, and pass it to the subscribers."""
        self._order += 1
        wanting = tuple(each for each in self._subscriptions if each.wants(kind, details))
        if not wanting:
            return
        whose = _OF_CONTROLLER if session is None else session.identity
        event = kind(order=self._order, time_us=self._time.now_us, **whose, **details)
        for subscription in wanting:
            context = contextvars.copy_context() if subscription.in_context else None
            if subscription.inline or (self._undelivered and self._is_behind(subscription)):
                self._undelivered.append((subscription, event, context))
            else:
                subscription.hand(event, context)

    def _is_behind(self, subscription: Subscription) -> bool:
        """Return whether a subscriber without a thread must get undelivered events first."""
        return any(each[0] is subscription for each in list(self._undelivered))

    def deliver(self) -> None:
        """Deliver events to subscribers without a thread; the line is not held.

        If such a subscriber causes an event, that event is delivered when the subscriber has returned.
        """
        while self._undelivered and self._deliver_in_turn():
            pass

    def _deliver_in_turn(self) -> bool:
        """Deliver all events, and return True; return False if this or another thread is delivering already."""
        if not self._delivering.acquire(blocking=False):
            return False
        try:
            self._deliver_all()
        finally:
            self._delivering.release()
        return True

    def _deliver_all(self) -> None:
        while self._undelivered:
            subscription, event, context = self._undelivered.popleft()
            subscription.hand(event, context)

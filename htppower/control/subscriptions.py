"""Subscriptions: each hands events to one subscriber, on a worker of its own, so that a slow one delays nobody."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.workers import Worker
    from htppower.events import Event

_LOGGER = logging.getLogger("htppower")

# A subscriber that hangs must not fill the memory. A second of a busy host is a few thousand events.
MOST_PENDING = 10_000
# How long ending a subscription waits for what was handed over; so does closing, when the votes are down.
LONGEST_FLUSH_S = 1.0


class Subscription:
    """One subscriber, what it wants to be told, and what waits for it.

    Args:
        subscriber: is called with every event, in order, one at a time; what it raises is logged.
        wants: whether it is to be told of an event; asked under the controller's lock, so it must be quick.
        worker: what calls it.
    """

    def __init__(self, subscriber: Callable[[Event], object], wants: Callable[[Event], bool], worker: Worker) -> None:
        self._subscriber = subscriber
        self._wants = wants
        self._worker = worker
        self._lost_told = 0
        # How many events were not delivered, because too many waited already.
        self.lost = 0

    def hand(self, event: Event) -> None:
        """Hand an event over without waiting; leave it out where too many wait already."""
        try:
            if not self._wants(event):
                return
            full = self._worker.pending >= MOST_PENDING
            if not full:
                self._worker.post(lambda: self._tell(event))
        except Exception:  # noqa: BLE001 - no vote may fail because of who wants to hear of it
            full = True
        # Told by the worker: the controller's lock is held here, and a log may be what is slow.
        self.lost += full

    def flush(self, timeout_s: float) -> bool:
        """Wait until the subscriber has been told everything; return whether it has within the time."""
        return self._worker.flush(timeout_s)

    def close(self) -> None:
        """Deliver what was handed over, and nothing from now on."""
        self._worker.close()

    def _tell(self, event: Event) -> None:
        if self.lost != self._lost_told:
            self._lost_told = self.lost
            _LOGGER.error("the subscriber %r is too slow: it has lost %d events so far", self._subscriber, self.lost)
        try:
            self._subscriber(event)
        except Exception:
            _LOGGER.exception("the subscriber %r failed on %r", self._subscriber, event)

"""A scheduler of APScheduler of which an exception from outside, such as Ctrl-C, leaves no lock held.

Alarms are armed on the threads of a host. Where such an exception hit one of them in the locks that a scheduler has of
its own, or in the event by which it wakes its thread, no alarm would ring any more.
"""

from __future__ import annotations

import functools
import queue
from typing import TYPE_CHECKING, Any

from apscheduler.schedulers.background import BackgroundScheduler

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from _thread import RLock


class _Bell:
    """What ``threading.Event`` is to a scheduler, with functions in C in the place of its lock.

    Attributes:
        set: wakes who waits, or who waits next.
    """

    def __init__(self) -> None:
        self._rings: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.set = functools.partial(self._rings.put, None)

    def is_set(self) -> bool:
        """Return whether it has rung since it was cleared."""
        return not self._rings.empty()

    def wait(self, timeout_s: float) -> None:
        """Wait until it rings, or for so long."""
        try:
            self._rings.get(timeout=timeout_s)
        except queue.Empty:
            return
        # Cleared by the one who waits.
        self._rings.put(None)

    def clear(self) -> None:
        """Forget that it has rung."""
        while not self._rings.empty():
            self._rings.get()


class Scheduler(BackgroundScheduler):  # type: ignore[misc]
    """A scheduler with such locks, and with such a bell."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # Where there is one, it makes none.
        self._event = _Bell()

    def _create_lock(self) -> RLock:
        return whole_lock()

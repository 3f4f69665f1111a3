"""Work that keeps no vote waiting: done on a thread of its own, once for all who ask for it until then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.alarms import armed_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time


class BackgroundWork:
    """Does some work a while after it is first asked for; whoever asks meanwhile is served by that, too.

    Where an exception from outside comes in the work, the worker does it again.

    Args:
        time: clock, alarms and workers.
        name: the thread's.
        work: what is done, on the thread. What happens once it has begun asks for it again.
        wait_us: how long after it is asked for, in microseconds.
        pause_us: how long from one beginning to the next at least, and from now on to the first.

    Attributes:
        asked: whether an alarm is armed. It may be read without a lock.
    """

    def __init__(
        self, time: Time, name: str, work: Callable[[], object], *, wait_us: int = 0, pause_us: int = 0
    ) -> None:
        self._time = time
        self._work = work
        self._wait_us = wait_us
        self._pause_us = pause_us
        # Protects the rest.
        self._lock = whole_lock()
        self._began_us = time.now_us
        self._alarm: Any = None
        self._closed = False
        self.asked = False
        self._worker = time.worker(name)

    def ask(self) -> None:
        """See to it that the work is done."""
        with self._lock:
            if self.asked or self._closed:
                return
            at_us = max(self._time.now_us + self._wait_us, self._began_us + self._pause_us)
            self._alarm = armed_or_none(self._time, at_us, self._rang, "what is written in the background")
            self.asked = self._alarm is not None

    def do(self, action: Callable[[], object], timeout_s: float) -> bool:
        """Do something else on the thread now; return whether that is done within the time, in seconds."""
        self._worker.post(action)
        return self._worker.flush(timeout_s)

    def stop(self) -> None:
        """Do the work no more; the thread still does what it is told."""
        with self._lock:
            self._closed = True
            if self._alarm is not None:
                self._time.cancel(self._alarm)

    def close(self) -> None:
        """Do nothing any more, and end the thread once it has done what was posted. Closing twice is fine."""
        self.stop()
        self._worker.close()

    def disown(self) -> None:
        """In a forked child: the thread is the parent's."""
        self._lock = whole_lock()
        self._closed = True

    def _rang(self) -> None:
        self._worker.post(self._begin)

    def _begin(self) -> None:
        with self._lock:
            if self._closed:
                return
            self.asked = False
            self._began_us = self._time.now_us
        self._work()

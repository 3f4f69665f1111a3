"""Work that may wait for the disk, such as writing a file, on a separate thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.base import armed_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time


class BackgroundWork:
    """Runs some work a certain time after the first request; all requests up to then are served by this one run.

    Args:
        work: the work. A request during a run starts another run.
        wait_us: how long after the first request a run begins, in microseconds.
        pause_us: the shortest time from the begin of a run to the begin of the next, and from now to the first.

    Attributes:
        asked: whether a run has been requested and not begun. It may be read without a lock.
    """

    def __init__(
        self, time: Time, name: str, work: Callable[[], object], *, wait_us: int = 0, pause_us: int = 0
    ) -> None:
        self._time = time
        self._work = work
        self._wait_us = wait_us
        self._pause_us = pause_us
        self._lock = whole_lock()
        self._began_us = time.now_us
        self._alarm: Any = None
        self._closed = False
        self.asked = False
        self._worker = time.worker(name)
        self._post = functools.partial(self._worker.post, self._begin)

    def ask(self) -> None:
        """Request a run."""
        with self._lock:
            if not self.asked and not self._closed:
                at_us = max(self._time.now_us + self._wait_us, self._began_us + self._pause_us)
                self._alarm = armed_or_none(self._time, at_us, self._post, "what is written in the background")
                self.asked = self._alarm is not None

    def do(self, action: Callable[[], object], timeout_s: float) -> bool:
        """Run an action on the thread now; return whether it has ended within the timeout, in seconds."""
        self._worker.post(action)
        return self._worker.flush(timeout_s)

    def stop(self) -> None:
        """Start no run from now on; ``do`` still works."""
        with self._lock:
            self._closed = True
            if self._alarm is not None:
                self._time.cancel(self._alarm)

    def close(self) -> None:
        """Stop, and end the thread once it has run everything that was posted. Closing twice has no effect."""
        self.stop()
        self._worker.close()

    def disown(self) -> None:
        """In a forked child, start no run, since the thread exists only in the parent."""
        self._lock = whole_lock()
        self._closed = True

    def _begin(self) -> None:
        with self._lock:
            if self._closed:
                return
            self.asked = False
            self._began_us = self._time.now_us
        self._work()

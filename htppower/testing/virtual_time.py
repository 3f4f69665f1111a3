"""A clock that the test moves."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import queue
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.workers import run_and_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.workers import Worker

_LOGGER = logging.getLogger("htppower")


class VirtualTime:
    """A clock that only the test moves, exact to the microsecond. Alarms run as it moves.

    Args:
        now_us: the time at the start.

    Attributes:
        call_soon: accepts an action, which runs when the time moves next. It takes no lock.
    """

    def __init__(self, now_us: int = 0) -> None:
        self._now_us = now_us
        self._lock = whole_lock()
        self._order = itertools.count()
        self._alarms: list[tuple[int, int]] = []
        self._actions: dict[int, Callable[[], object]] = {}
        self._soon: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self.call_soon = self._soon.put

    @property
    def now_us(self) -> int:
        """The time, in microseconds."""
        return self._now_us

    def now_ns(self) -> int:
        """Return the time, in nanoseconds."""
        return self._now_us * 1000

    @property
    def alarms(self) -> int:
        """How many alarms are armed."""
        with self._lock:
            return len(self._actions)

    def advance_us(self, duration_us: int) -> None:
        """Move the time forward, and run each alarm that is due at its own time, in the order of the deadlines.

        Raises:
            ValueError: the duration is negative.
        """
        if duration_us < 0:
            raise ValueError(f"time does not go back: {duration_us} us")
        end_us = self._now_us + duration_us
        while (action := self._due(end_us)) is not None:
            action()
        self._now_us = max(self._now_us, end_us)

    def sleep(self, duration_s: float) -> None:
        """Move the time forward without running alarms, like a slow native call. The alarms then run late."""
        self._now_us += round(duration_s * 1_000_000)

    def wait_until(self, at_us: int) -> None:
        """Move the time forward to a time, and run each alarm on the way, like a host that waits."""
        self.advance_us(max(0, at_us - self._now_us))

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> int:
        """Arm an alarm; return its number for ``cancel``."""
        with self._lock:
            alarm = next(self._order)
            self._actions[alarm] = action
            heapq.heappush(self._alarms, (deadline_us, alarm))
            return alarm

    def cancel(self, alarm: int) -> None:
        """Cancel an alarm; do nothing if it has run or was cancelled."""
        with self._lock:
            self._actions.pop(alarm, None)

    def start(self) -> None:
        """Do nothing: a virtual clock has no thread."""

    def worker(self, name: str) -> Worker:  # noqa: ARG002 - the protocol's
        """Return a worker that runs each action at once, in the caller's thread."""
        return InlineWorker()

    def close(self) -> None:
        """Run no alarm from now on."""
        with self._lock:
            self._actions.clear()
            self._alarms.clear()

    def _due(self, end_us: int) -> Callable[[], object] | None:
        """Take the next alarm that is due by ``end_us``, and move the time to its deadline."""
        with contextlib.suppress(queue.Empty):
            return self._soon.get_nowait()
        with self._lock:
            return self._pop(end_us)

    def _pop(self, end_us: int) -> Callable[[], object] | None:
        while self._alarms and self._alarms[0][0] <= end_us:
            deadline_us, alarm = heapq.heappop(self._alarms)
            action = self._actions.pop(alarm, None)
            if action is not None:
                self._now_us = max(self._now_us, deadline_us)
                return action
        return None


class InlineWorker:
    """Runs actions at once, on the thread that posts them: a worker for virtual time."""

    inline = True
    pending = 0

    def post(self, action: Callable[[], object]) -> None:
        """Run the action."""
        run_and_log(action, _LOGGER)

    def flush(self, timeout_s: float) -> bool:  # noqa: ARG002 - the protocol's
        """Return True: no action is ever waiting."""
        return True

    def keep(self, idle_s: float | None) -> None:
        """Do nothing: this worker has no thread."""

    def close(self) -> None:
        """Do nothing."""

"""What the controller asks of time: a clock, and alarms."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock(Protocol):
    """A clock that only goes forward."""

    @property
    def now_us(self) -> int:
        """Microseconds since a fixed, arbitrary point."""


class Time(Clock, Protocol):
    """A clock with alarms. The real one is in ``sustain.py``, the one for tests in ``testing.py``."""

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action once, at the deadline or soon after, never before; return what ``cancel`` takes."""

    def cancel(self, alarm: Any) -> None:
        """Take an alarm back; one that has run or was cancelled is left alone."""

    def close(self) -> None:
        """Run no alarm from now on."""


class MonotonicClock:
    """The system's monotonic clock, which no step of the wall clock moves."""

    @property
    def now_us(self) -> int:
        """Microseconds since the system's own starting point."""
        return time.monotonic_ns() // 1000

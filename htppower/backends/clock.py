"""The clock, in microseconds."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A clock that only goes forward."""

    @property
    def now_us(self) -> int:
        """Microseconds since a fixed, arbitrary point."""


class MonotonicClock:
    """The system's monotonic clock. Steps of the wall clock do not move it."""

    @property
    def now_us(self) -> int:
        """Microseconds since a point that the system chooses."""
        return time.monotonic_ns() // 1000

"""The clock, in microseconds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

# On Windows the monotonic clock of Python 3.10 to 3.12 moves in steps of 15.6 ms; the performance counter's steps are
# 100 ns, and it goes on while the system sleeps. From 3.13 on both are the same.
COARSEST_STEP_S = 1e-4


class Clock(Protocol):
    """A clock that only goes forward."""

    @property
    def now_us(self) -> int:
        """Microseconds since a fixed, arbitrary point."""


def fine_clock(step_s: float) -> Callable[[], int]:
    """Return a function that gives the time in ns, for a monotonic clock with this step."""
    return time.perf_counter_ns if step_s > COARSEST_STEP_S else time.monotonic_ns


monotonic_ns = fine_clock(time.get_clock_info("monotonic").resolution)


class MonotonicClock:
    """The system's monotonic clock. Steps of the wall clock do not move it."""

    @property
    def now_us(self) -> int:
        """Microseconds since a point that the system chooses."""
        return monotonic_ns() // 1000

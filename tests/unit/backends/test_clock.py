"""The clock: fine enough for inferences on every system."""

from __future__ import annotations

import time

import pytest

from htppower.backends.clock import MonotonicClock, fine_clock


@pytest.mark.parametrize(
    ("step_s", "expected"), [(1e-9, time.monotonic_ns), (1e-7, time.monotonic_ns), (0.015625, time.perf_counter_ns)]
)
def test_a_clock_in_long_steps_is_replaced_by_the_performance_counter(step_s: float, expected: object) -> None:
    """The monotonic clock of Windows before Python 3.13 moves in steps of 15.6 ms, longer than most inferences."""
    assert fine_clock(step_s) is expected


def test_the_clock_shows_a_wait_of_a_millisecond() -> None:
    """Two readings around a busy wait of 1 ms differ by about as much, not by 0 or by a step of 15.6 ms."""
    clock = MonotonicClock()
    shortest_us = 1_000_000
    for _ in range(20):
        begun_us, end = clock.now_us, time.perf_counter_ns() + 1_000_000
        while time.perf_counter_ns() < end:
            pass
        shortest_us = min(shortest_us, clock.now_us - begun_us)
    assert 900 <= shortest_us < 15_000

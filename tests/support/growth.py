"""Measures how the time of some work grows with its size."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

import pytest
from support.needs import LACKING, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES_SIZE = 4
# For four times the size, linear work takes four times as long, and quadratic work sixteen times.
MOST = 9


def growth(make: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times as long the work takes for four times the size: of this thread's processor, at best.

    ``make`` returns the work for a size; making it does not count. On Windows the test is skipped.
    """
    if WINDOWS:
        pytest.skip(LACKING["thread times"])
    return _least_ns(make, TIMES_SIZE * size) / _least_ns(make, size)


def _least_ns(make: Callable[[int], Callable[[], object]], size: int) -> int:
    least = None
    for _ in range(3):
        work = make(size)
        gc.collect()
        began = time.thread_time_ns()
        work()
        took = time.thread_time_ns() - began
        least = took if least is None else min(least, took)
    assert least
    return least

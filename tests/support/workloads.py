"""Recordings made from a seed: of many shapes, with gaps near the time-outs, with and without overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.tuning.cost.workload import Timing
from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

_ODD_GAPS_US = (0, 0, 500, 1_500, 19_999, 20_000, 20_500, 21_000, 22_000, 100_000, 300_000, 302_000)
_GAPS: tuple[Callable[[Generator, int], NDArray[np.int64]], ...] = (
    lambda draw, count: draw.exponential(60_000, count).astype(np.int64),
    lambda draw, count: draw.integers(29_000, 33_000, count),
    lambda draw, count: draw.choice(np.array(_ODD_GAPS_US), count),
    lambda draw, count: draw.integers(0, 25_000, count),
)


def any_session(draw: Generator, most: int = 40, name: str = "camera") -> SessionTrace:
    """Return a session with one or more inferences, up to a maximum."""
    count = int(draw.integers(1, most + 1))
    gaps = _GAPS[int(draw.integers(len(_GAPS)))](draw, count)
    takes = draw.integers(0, 5_000, count)
    if draw.integers(2):
        begins = np.cumsum(gaps).astype(np.int64)
        return SessionTrace(name, "burst", begins, begins + takes * draw.choice(np.array([1, 8]), count))
    ends = np.cumsum(gaps + takes).astype(np.int64)
    return SessionTrace(name, "burst", ends - takes, ends)


def any_timing(draw: Generator) -> Timing:
    """Return how long inferences take under some profile."""
    stretch = float(draw.choice(np.array([1.0, 1.0, 0.7, 2.3, 5.0])))
    return Timing(stretch=stretch, late_us=int(draw.choice(np.array([0, 1, 2_000, 5_000, 20_000]))))

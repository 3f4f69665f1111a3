"""Recordings with two similar halves, made from a seed: a test tunes on the first half and replays the second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

_Made = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _camera(draw: Generator, count: int) -> _Made:
    """Return frames 24 to 26 ms apart, in bursts with seconds between them."""
    gaps: list[int] = []
    while len(gaps) < count:
        gaps += draw.integers(24_000, 26_000, int(draw.integers(20, 60))).tolist()
        gaps.append(int(draw.integers(1_000_000, 10_000_000)))
    return np.array(gaps[:count]), np.full(count, 8_000)


def _jitter(draw: Generator, count: int) -> _Made:
    return np.maximum(draw.normal(33_000, 4_000, count), 0).astype(np.int64), draw.integers(6_000, 9_000, count)


def _bursts(draw: Generator, count: int) -> _Made:
    mean_us = np.where(draw.random(count) < 0.03, 4_000_000, 40_000)
    return draw.exponential(mean_us).astype(np.int64), draw.integers(4_000, 6_000, count)


def _requests(draw: Generator, count: int) -> _Made:
    return draw.exponential(80_000, count).astype(np.int64), draw.integers(1_000, 4_000, count)


def _tokens(draw: Generator, count: int) -> _Made:
    """Return tokens 2 ms apart, in answers with seconds between them."""
    ends = draw.random(count) < 1 / 80
    gaps = np.where(ends, draw.exponential(3_000_000, count), draw.lognormal(np.log(2_500), 0.5, count))
    return gaps.astype(np.int64), draw.integers(14_000, 18_000, count)


def _drift(draw: Generator, count: int) -> _Made:
    gaps = 40_000 + np.cumsum(draw.normal(0, 60, count)) + draw.normal(0, 1_500, count)
    return np.maximum(gaps, 1_000).astype(np.int64), np.full(count, 7_000)


def _mixed(draw: Generator, count: int) -> _Made:
    kinds = draw.choice(3, count, p=[0.6, 0.37, 0.03])
    ranges = np.array([[28_000, 32_000], [90_000, 110_000], [500_000, 8_000_000]])[kinds]
    return draw.integers(ranges[:, 0], ranges[:, 1]), draw.integers(3_000, 9_000, count)


KINDS: dict[str, tuple[Callable[[Generator, int], _Made], tuple[str, ...]]] = {
    "camera": (_camera, ("p99 <= 12 ms", "cold <= 5 %")),
    "jitter": (_jitter, ("p99 <= 15 ms", "cold <= 5 %")),
    "bursts": (_bursts, ("cold <= 10 %",)),
    "requests": (_requests, ("cold <= 5 %",)),
    "tokens": (_tokens, ("p99 <= 30 ms", "cold <= 5 %")),
    "drift": (_drift, ("cold <= 5 %",)),
    "mixed": (_mixed, ("p99 <= 16 ms", "cold <= 10 %")),
}


def halves(kind: str, seed: int, count: int) -> tuple[SessionTrace, SessionTrace]:
    """Return two recordings with the same number of inferences, one after the other."""
    gaps_us, takes_us = KINDS[kind][0](np.random.default_rng(seed), 2 * count)
    ends_us = np.cumsum(gaps_us + takes_us)
    first, second = (SessionTrace("camera", "burst", ends[0] - ends[1], ends[0]) for ends in _cut(ends_us, takes_us))
    return first, second


def with_jitter(session: SessionTrace, most_us: int, seed: int) -> SessionTrace:
    """Return the session with each gap longer, by less than ``most_us``."""
    later_us = np.cumsum(np.random.default_rng(seed).integers(0, most_us, session.begins_us.size))
    return attrs.evolve(session, begins_us=session.begins_us + later_us, ends_us=session.ends_us + later_us)


def _cut(ends_us: NDArray[np.int64], takes_us: NDArray[np.int64]) -> list[_Made]:
    half = ends_us.size // 2
    return [(ends_us[:half], takes_us[:half]), (ends_us[half:], takes_us[half:])]

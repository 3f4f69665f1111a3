"""Two humps are found only in times with two groups."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.advice.numbers import mean, median, two_humps

if TYPE_CHECKING:
    from collections.abc import Callable

# One group: with little and much noise, evenly spread, with a long tail, with outliers, decreasing.
ONE: dict[str, Callable[[random.Random, float], float]] = {
    "narrow": lambda noise, _: 1000 * noise.lognormvariate(0, 0.05),
    "wide": lambda noise, _: 1000 * noise.lognormvariate(0, 0.3),
    "even": lambda noise, _: noise.uniform(1000, 2000),
    "tail": lambda noise, _: 1000 + noise.expovariate(1 / 300),
    "outliers": lambda noise, _: 1000 * noise.lognormvariate(0, 0.03) * (5 if noise.random() < 0.02 else 1),
    "ramp": lambda noise, place: 2000 - 800 * place + noise.gauss(0, 20),
}
TWO: dict[str, Callable[[random.Random, float], float]] = {
    "ai hub": lambda noise, _: (17600 if noise.random() < 0.35 else 41700) * noise.lognormvariate(0, 0.06),
    "alike": lambda noise, _: (1000 if noise.random() < 0.5 else 1400) * noise.lognormvariate(0, 0.03),
    "few slow": lambda noise, _: (1000 if noise.random() < 0.75 else 3000) * noise.lognormvariate(0, 0.05),
}


def found(kind: Callable[[random.Random, float], float], count: int) -> float:
    """Return the share of 200 series with two humps."""
    noise = random.Random(7)
    series = ([kind(noise, place / count) for place in range(count)] for _ in range(200))
    return sum(two_humps(times) is not None for times in series) / 200


@pytest.mark.parametrize("count", [10, 15, 16, 29, 30, 100])
@pytest.mark.parametrize("kind", ONE)
def test_one_group_is_seldom_taken_for_two(kind: str, count: int) -> None:
    """At most one series in fifty with one group looks like two, however few times there are."""
    assert found(ONE[kind], count) <= 0.02


@pytest.mark.parametrize("kind", TWO)
def test_two_groups_are_found(kind: str) -> None:
    """With thirty times, most series are found; with a hundred, nearly all."""
    assert found(TWO[kind], 30) >= 0.85
    assert found(TWO[kind], 100) >= 0.99


def test_the_humps_are_told() -> None:
    """Each hump has its median, and the slow one its share; scaled times have scaled humps."""
    times = [100.0, 101, 102, 99, 98, 100, 300, 310, 290, 300]
    humps = two_humps(times)
    assert humps is not None
    assert (humps.fast, humps.slow, humps.slow_share) == (100, 300, 0.4)
    scaled = two_humps([7 * each for each in reversed(times)])
    assert scaled is not None
    assert (scaled.fast, scaled.slow) == (700, 2100)
    assert two_humps(times[:9]) is None
    assert two_humps([5.0] * 50) is None
    assert two_humps([0.0] * 50) is None


def test_numbers_that_are_missing_do_not_count() -> None:
    """Medians and means use only the numbers that exist."""
    assert median([3.0, math.nan, 1.0, 2.0]) == 2
    assert mean([3.0, math.nan, 1.0]) == 2
    assert math.isnan(median([math.nan]))
    assert math.isnan(mean([]))

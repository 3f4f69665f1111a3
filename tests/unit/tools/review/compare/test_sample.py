"""Samples: medians, quantiles, and the coverage of the intervals that a bootstrap gives."""

from __future__ import annotations

import bisect
import random
import statistics
from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.advice.measurement import MISSING, Spread
from htppower.tools.review.compare.sample import DRAWN, Sample, drawn_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def sample(runs: Sequence[float]) -> Sample:
    """Return a sample of runs."""
    found = Sample.of_runs(runs)
    assert found is not None
    return found


def medians(of: Sample, draw: random.Random, drawn: int = DRAWN) -> list[float]:
    """Return medians that a bootstrap draws."""
    return of.medians(drawn_ranks(draw, of.runs, drawn))


def skewed(draw: random.Random, count: int) -> list[float]:
    """Return times with a long tail."""
    return [1000 * draw.lognormvariate(0, 0.1) for _ in range(count)]


def alike(draw: random.Random, count: int) -> list[float]:
    """Return times of which each resembles the one before."""
    now, found = 0.0, []
    for _ in range(count):
        now = 0.8 * now + draw.gauss(0, 1)
        found.append(1000 + now)
    return found


def covered(make: Callable[[random.Random, int], list[float]], counts: tuple[int, int], seeds: int = 300) -> float:
    """Return how often the interval of 95 % holds the true difference of two equal distributions, which is 0."""
    held = 0
    for seed in range(seeds):
        draw = random.Random(seed)
        one, other = (medians(sample(make(draw, count)), draw, 400) for count in counts)
        by = sorted(b - a for a, b in zip(one, other, strict=True))
        held += by[10] <= 0 <= by[-11]
    return held / seeds


@pytest.mark.parametrize("counts", [(6, 6), (10, 31), (30, 30), (200, 100)], ids=str)
def test_the_interval_holds_the_truth_as_often_as_it_says(counts: tuple[int, int]) -> None:
    """Over 300 seeds the interval of 95 % holds the truth in 92 % to 99 %, for few and for many runs."""
    assert 0.92 <= covered(skewed, counts) <= 0.99


def test_runs_that_resemble_their_neighbours_tell_less() -> None:
    """If each run resembles the one before, the interval is wider, and holds the truth as often."""
    assert covered(alike, (200, 200)) >= 0.92
    runs = alike(random.Random(1), 1000)
    assert sample(runs).independent < 300
    mixed = random.Random(2).sample(runs, len(runs))
    assert sample(mixed).independent > 700


def test_the_medians_are_those_of_a_bootstrap() -> None:
    """They have the distribution of the medians of runs that are really drawn, for odd and even numbers of runs."""
    for count in (15, 16):
        draw = random.Random(count)
        runs = skewed(draw, count)
        really = sorted(statistics.median(draw.choices(runs, k=count)) for _ in range(DRAWN))
        ours = sorted(medians(sample(runs), draw))
        apart = [abs(bisect.bisect(ours, each) - bisect.bisect(really, each)) / DRAWN for each in (*ours, *really)]
        assert max(apart) < 0.06


@pytest.mark.parametrize("runs", [[5.0], [1.0, 2.0], [3.0, 1.0, 2.0], [4.0, MISSING, 1.0, 2.0, 3.0]], ids=str)
def test_the_median_is_that_of_the_runs(runs: list[float]) -> None:
    """Missing runs are left out."""
    assert sample(runs).median == statistics.median(run for run in runs if run == run)  # noqa: PLR0124 - missing
    assert Sample.of_runs([MISSING]) is None


def test_statistics_stand_for_their_runs() -> None:
    """Between quantiles times rise evenly; the interval of such a sample is no shorter than that of its runs."""
    runs = skewed(random.Random(3), 100)
    ordered = sorted(runs)
    median = statistics.median(runs)
    quantiles = ((0.0, ordered[0]), (0.05, ordered[5]), (0.5, median), (0.95, ordered[95]), (1.0, ordered[-1]))
    known = Sample.of_statistics(median, Spread(100, quantiles))
    assert (known.median, known.at(0.05), known.at(1.0)) == (median, ordered[5], ordered[-1])
    assert known.at(0.275) == pytest.approx((ordered[5] + median) / 2)
    assert known.has_interval
    lengths = []
    for each in (known, sample(runs)):
        found = sorted(medians(each, random.Random(4)))
        lengths.append(found[-50] - found[50])
    assert lengths[0] >= lengths[1]


@pytest.mark.parametrize("spread", [None, Spread(0, ()), Spread(50, ()), Spread(3, ((0.0, 1), (0.5, 2), (1.0, 3)))])
def test_without_their_spread_averages_have_no_interval(spread: Spread | None) -> None:
    """An average alone, or the statistics of three runs, say nothing of chance."""
    found = Sample.of_statistics(2.0, spread)
    assert not found.has_interval
    assert set(medians(found, random.Random(1))) == {2.0}


def test_five_runs_have_no_interval_and_six_have() -> None:
    """The interval of five runs is too short."""
    assert not sample([1.0] * 5).has_interval
    assert sample([1.0] * 6).has_interval

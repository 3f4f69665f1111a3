"""Gaps in bins: exact at the edges, added in any order, a few kilobytes for any number of gaps."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.profiles.sustain import LONGEST_SUSTAIN_US
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.fleet.bins import BINS, EDGES_US, LARGEST_STEP
from htppower.tools.tuning.fleet.gap_histogram import PPM, GapHistogram, merged
from htppower.tools.tuning.fleet.settle import best_fixed

# Gaps of any length, and many at the narrow bins or exactly at an edge.
_GAPS = st.lists(
    st.one_of(
        st.integers(0, 2**45),
        st.integers(10_000, 2_000_000),
        st.builds(lambda edge, off: max(0, edge + off), st.sampled_from(EDGES_US), st.integers(-1, 1)),
    ),
    max_size=60,
)
_BREAK_EVEN_US = st.one_of(st.integers(1, 10**9), st.sampled_from([20_000, 100_000, 300_000]))


def histogram(gaps_us: list[int]) -> GapHistogram:
    """Return the counts of gaps."""
    return GapHistogram.of(np.array(gaps_us, dtype=np.int64))


def cost_us(gaps_us: list[int], time_out_us: int, break_even_us: int) -> int:
    """Return the cost of a time-out, gap by gap."""
    return sum(gap if gap < time_out_us else time_out_us + break_even_us for gap in gaps_us)


def test_the_edges_are_round_and_close() -> None:
    """There are 256 rising edges, at most 15/14 apart from 10 ms up, and usual round times are among them."""
    assert len(EDGES_US) == BINS == 256
    assert EDGES_US[0] == 0
    assert all(low < high for low, high in itertools.pairwise(EDGES_US))
    assert max(Fraction(high, low) for low, high in itertools.pairwise(EDGES_US) if low >= 10_000) == Fraction(
        *LARGEST_STEP
    )
    assert {20_000, 50_000, 100_000, 300_000, 1_000_000, 2_500_000, 10_000_000} <= set(EDGES_US)


@given(_GAPS, _BREAK_EVEN_US)
def test_the_cost_of_every_edge_is_exact(gaps_us: list[int], break_even_us: int) -> None:
    """As a time-out, an edge has the cost and the cold starts of a count gap by gap; an equal gap is beyond it."""
    counted = histogram(gaps_us)
    costs_us, beyond = counted.costs_us(break_even_us), counted.beyond()
    assert len(costs_us) == len(beyond) == BINS
    for place in (0, 1, *range(2, BINS, 9), BINS - 1):
        edge_us = EDGES_US[place]
        assert costs_us[place] == cost_us(gaps_us, edge_us, break_even_us)
        assert beyond[place] == sum(gap >= edge_us for gap in gaps_us)


@given(_GAPS, _GAPS, _GAPS)
def test_counts_add_up_in_any_order(first: list[int], second: list[int], third: list[int]) -> None:
    """The sum of counts equals the counts of all gaps, in any order; empty counts change nothing."""
    one, two, three = map(histogram, (first, second, third))
    assert (one + two) + three == one + (two + three) == merged([three, one, two]) == histogram(first + second + third)
    assert one + GapHistogram() == one == histogram([]) + one
    assert merged([]) == GapHistogram()
    assert (one + two).gaps == len(first) + len(second)


@given(_GAPS, _BREAK_EVEN_US)
def test_the_best_edge_costs_little_more_than_the_best_time_out(gaps_us: list[int], break_even_us: int) -> None:
    """The best edge costs at most 1 + t / (14 (t + B)) times the best time-out t, up to the last edge."""
    longest_us = max(edge for edge in EDGES_US if edge <= LONGEST_SUSTAIN_US)
    kept = {0, SHORTEST_SUSTAIN_US, *(gap + 1 for gap in gaps_us if SHORTEST_SUSTAIN_US <= gap < longest_us)}
    least_us, best_us = min((cost_us(gaps_us, each, break_even_us), each) for each in kept)
    found, keeps = best_fixed(histogram(gaps_us), break_even_us)
    assert keeps
    assert isinstance(found.sustain, int)
    assert found.cost.cost_us == cost_us(gaps_us, found.sustain, break_even_us)
    factor = 1 + Fraction(best_us, 14 * (best_us + break_even_us))
    assert least_us <= found.cost.cost_us <= factor * least_us


def test_no_smaller_factor_would_do() -> None:
    """A gap just below the best time-out, and many long ones, come within 1 % of the factor."""
    gaps_us, break_even_us, best_us = [280_001, *[7 * 10**9] * 30], 10_000_000, 280_002
    found, _ = best_fixed(histogram(gaps_us), break_even_us)
    assert found.sustain == 300_000
    above = Fraction(found.cost.cost_us, cost_us(gaps_us, best_us, break_even_us)) - 1
    assert above > Fraction(99, 100) * Fraction(best_us, 14 * (best_us + break_even_us))


@given(_GAPS.filter(bool), st.integers(0, PPM))
def test_a_quantile_lies_between_two_edges(gaps_us: list[int], share_ppm: int) -> None:
    """The gap at a share of all gaps is at least the first edge and below the second."""
    ordered = sorted(gaps_us)
    exact_us = ordered[max(0, -(-len(ordered) * share_ppm // PPM) - 1)]
    low_us, high_us = histogram(gaps_us).quantile_us(share_ppm)
    assert low_us <= exact_us
    assert high_us is None or exact_us < high_us
    assert (high_us is None) == (exact_us >= EDGES_US[-1])


def test_no_quantile_of_nothing() -> None:
    """Without gaps, or for an invalid share, an error is raised."""
    with pytest.raises(ValueError, match="at least one gap"):
        GapHistogram().quantile_us(500_000)
    with pytest.raises(ValueError, match="from 0 to"):
        histogram([1]).quantile_us(PPM + 1)


@given(_GAPS)
def test_counts_come_back_from_json(gaps_us: list[int]) -> None:
    """Counts are equal after a round trip."""
    counted = histogram(gaps_us)
    assert GapHistogram.from_json(json.loads(json.dumps(counted.as_json()))) == counted


def test_a_million_gaps_are_some_kilobytes() -> None:
    """The size of the counts does not depend on the number of gaps."""
    gaps_us = np.random.default_rng(15).lognormal(11, 3, 1_000_000).astype(np.int64)
    counted = GapHistogram.of(gaps_us)
    assert counted.gaps == 1_000_000
    assert sum(counted.sums_us) == int(gaps_us.sum())
    assert len(json.dumps(counted.as_json())) < 6_000


def test_large_numbers_stay_exact() -> None:
    """Sums of many files, and costs of long time-outs, may exceed 64 bits."""
    one = histogram([2**61, 2**60, 3])
    many = merged([one] * 1_000)
    assert sum(many.sums_us) == 1_000 * (2**61 + 2**60 + 3) > 2**64
    assert many.costs_us(10**12)[-1] == 1_000 * (3 + 2 * (EDGES_US[-1] + 10**12))


@pytest.mark.parametrize("gaps_us", [[-1, 5], [2**61] * 3])
def test_times_from_nowhere_are_refused(gaps_us: list[int]) -> None:
    """Gaps below 0, or so long that sums would overflow, are refused."""
    with pytest.raises(ValueError, match="below 0, or longer"):
        histogram(gaps_us)


_SOUND = {"first_bin": 2, "counts": [1, 2], "sums_us": [50, 210]}


def test_the_sound_one_is_sound() -> None:
    """The base of the broken counts below is valid."""
    assert GapHistogram.from_json(_SOUND) == histogram([50, 101, 109])


@pytest.mark.parametrize(
    "change",
    [
        {"first_bin": -1},
        {"first_bin": 255},
        {"first_bin": 10**12},
        {"first_bin": "2"},
        {"counts": [1, 2, 3]},
        {"counts": [0] * 257},
        {"counts": [1, -2]},
        {"counts": [1, True], "sums_us": [50, 101]},
        {"counts": [1, 2.0]},
        {"counts": None},
        {"sums_us": [9, 210]},
        {"sums_us": [50, 250]},
        {"first_bin": 0, "counts": [10**4000], "sums_us": [0]},
        {"first_bin": 255, "counts": [1], "sums_us": [2**62]},
        {"sums_us": ["50", 210]},
    ],
)
def test_impossible_counts_are_refused(change: dict[str, object]) -> None:
    """Counts of a wrong form, or impossible for their bins, are refused."""
    with pytest.raises(ValueError, match="counts"):
        GapHistogram.from_json({**_SOUND, **change})


def test_counts_that_lack_something_are_refused() -> None:
    """A file without counts is refused too."""
    broken: list[object] = [{}, [], None, 3, {"first_bin": 0, "counts": []}]
    for value in broken:
        with pytest.raises(ValueError, match="not counts of gaps"):
            GapHistogram.from_json(value)

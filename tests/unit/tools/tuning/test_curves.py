"""The cost of every time-out over a set of gaps."""

from __future__ import annotations

import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.cost.curves import GapCurve

GAPS_US = (0, 5_000, 20_000, 20_000, 90_000, 2_000_000)


def paid_us(time_out_us: int, break_even_us: int) -> int:
    """Return the cost of a time-out, gap by gap."""
    return sum(gap if gap < time_out_us else time_out_us + break_even_us for gap in GAPS_US)


def test_every_time_out_costs_what_it_costs_gap_by_gap() -> None:
    """A shorter gap costs itself; any other gap costs the time-out and the break-even time."""
    curve = GapCurve.of(GAPS_US[::-1])
    time_outs = np.array([0, 1, 19_999, 20_000, 20_001, 90_000, 90_001, 5_000_000])
    for break_even_us in (0, 10_000, 100_000):
        found = curve.cost_us(time_outs, break_even_us)
        assert found.tolist() == [paid_us(each, break_even_us) for each in time_outs.tolist()]
    assert curve.beyond(time_outs).tolist() == [6, 5, 4, 4, 2, 2, 1, 0]


def test_the_best_time_out_is_the_best_of_all() -> None:
    """No time-out of whole microseconds that a timer keeps costs less; of equal ones the shortest is chosen."""
    curve = GapCurve.of(GAPS_US)
    for break_even_us in (0, 1, 30_000, 100_000, 5_000_000):
        time_out_us, cost = curve.best(break_even_us, 3_000_000)
        others = (0, *range(SHORTEST_SUSTAIN_US, 110_000), *range(1_999_990, 2_000_010))
        assert cost == paid_us(time_out_us, break_even_us) == min(paid_us(each, break_even_us) for each in others)
    assert curve.best(10_000_000, 100_000)[0] == 90_001


def test_a_share_of_cold_starts_has_a_shortest_time_out() -> None:
    """With one microsecond less, more gaps are beyond it."""
    curve = GapCurve.of(GAPS_US)
    for most in range(len(GAPS_US)):
        time_out_us = curve.shortest_us(most)
        assert curve.beyond(time_out_us) <= most < curve.beyond(time_out_us - 1)
    assert curve.shortest_us(len(GAPS_US)) == 0


def test_the_clairvoyant_pays_the_less_of_both() -> None:
    """With perfect knowledge each gap costs itself or the break-even time; no time-out costs less."""
    curve = GapCurve.of(GAPS_US)
    for break_even_us in (0, 20_000, 100_000):
        least = curve.clairvoyant_us(break_even_us)
        assert least == sum(min(gap, break_even_us) for gap in GAPS_US)
        assert least <= curve.best(break_even_us, 10_000_000)[1]


def test_no_gap_is_no_cost() -> None:
    """A session with one inference has no gap, so every time-out costs nothing."""
    curve = GapCurve.of([])
    assert curve.best(100_000, 1_000_000) == (0, 0)
    assert curve.clairvoyant_us(100_000) == 0

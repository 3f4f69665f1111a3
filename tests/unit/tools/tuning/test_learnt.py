"""Learnt time-outs, calculated in many lanes at once."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from support.inside import patch_private

from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner
from htppower.tools.tuning.cost import learnt
from htppower.tools.tuning.cost.learnt import run_lanes, run_learnt
from htppower.tools.tuning.cost.outcome import Run
from htppower.tools.tuning.cost.stepwise import run_stepwise
from htppower.tools.tuning.cost.workload import Workload

_LEARNT = (
    Adaptive(break_even_us=100_000),
    Adaptive(break_even_us=700),
    Adaptive(break_even_us=50_000, least_us=5_000, most_us=60_000),
    Adaptive(break_even_us=50_000, least_us=150_000, most_us=250_000),
    Adaptive(cold_starts_ppm=10_000),
    Adaptive(cold_starts_ppm=300_000, least_us=1_000),
)


def _workload(seed: int, count: int, late_us: int) -> Workload:
    """Return inferences with short and long gaps; some are requested while another runs."""
    draw = np.random.default_rng(seed)
    gaps = np.where(draw.random(count) < 0.6, draw.exponential(9_000, count), draw.exponential(200_000, count))
    takes = draw.integers(0, 6_000, count)
    asked = np.sort(np.cumsum(gaps.astype(np.int64) + takes) - draw.integers(0, 4_000, count))
    return Workload(asked, takes, True, late_us)


@pytest.mark.parametrize("late_us", [0, 2_000, 15_000])
@pytest.mark.parametrize("sustain", _LEARNT, ids=str)
def test_lanes_that_are_repeated_give_the_result_of_gap_by_gap(sustain: Adaptive, late_us: int) -> None:
    """If lanes are repeated until none differs, every value of the run is the same as gap by gap."""
    for seed in range(3):
        workload = _workload(seed, 2_000 + seed, late_us)
        expected, found = run_stepwise(workload, make_learner(sustain)), run_lanes(workload, sustain, 16, exact=True)
        for field in attrs.fields(Run):
            assert np.array_equal(getattr(expected, field.name), getattr(found, field.name)), field.name


@pytest.mark.parametrize("sustain", _LEARNT[:1] + _LEARNT[-1:], ids=str)
def test_lanes_that_are_not_repeated_are_close(sustain: Adaptive) -> None:
    """Without repeats, the cold starts and the time that votes are up differ by less than 2 %."""
    workload = _workload(1, 40_000, 2_000)
    exact, found = run_stepwise(workload, make_learner(sustain)), run_lanes(workload, sustain, 8)
    assert found.cold.size == pytest.approx(exact.cold.size, rel=0.02)
    assert found.up_us == pytest.approx(exact.up_us, rel=0.02)


def test_a_long_recording_is_calculated_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording above the limit is calculated in lanes; a shorter one, or one with overlaps, gap by gap."""
    workload, sustain = _workload(1, 20_000, 2_000), _LEARNT[0]
    exact = run_stepwise(workload, make_learner(sustain))
    assert np.array_equal(run_learnt(workload, sustain).cold, exact.cold)
    patch_private(monkeypatch, learnt, MOST_STEPWISE=10_000)
    assert np.array_equal(run_learnt(workload, sustain).cold, run_lanes(workload, sustain, 2).cold)
    beside = attrs.evolve(workload, one_at_a_time=False)
    assert np.array_equal(run_learnt(beside, sustain).cold, run_stepwise(beside, make_learner(sustain)).cold)

"""Many time-outs at once give the same results as one after another, to the microsecond."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from support.inside import patch_private
from support.workloads import any_session, any_timing

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.cost import sums
from htppower.tools.tuning.cost.blocks import Blocks
from htppower.tools.tuning.cost.exact import Counter, ExactTimeOuts
from htppower.tools.tuning.cost.stepwise import Fixed, run_stepwise
from htppower.tools.tuning.cost.sums import Alternation
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.traces.trace import SessionTrace

SUMS = ("cold", "raised_us", "busy_us", "waits_us")


def some_time_outs(exact: ExactTimeOuts, draw: np.random.Generator) -> np.ndarray:
    """Return time-outs at every edge, a microsecond next to it, and elsewhere."""
    edges = exact.time_outs_us(10_000_000)
    near = np.concatenate((edges - 1, edges, edges + 1, draw.integers(20_000, 40_000, 5)))
    return np.unique(near[near >= SHORTEST_SUSTAIN_US])


@pytest.mark.parametrize("seed", range(60))
def test_a_search_finds_what_going_from_gap_to_gap_finds(seed: int) -> None:
    """Cold starts, time raised, time busy, waits and each inference are equal, and the bounds hold."""
    draw = np.random.default_rng(seed)
    workload = Workload.of(any_session(draw), any_timing(draw))
    exact = ExactTimeOuts(Blocks.of(workload))
    time_outs = some_time_outs(exact, draw)
    found, bounds = exact.outcomes(time_outs), exact.bounds(time_outs)
    for place, time_out_us in enumerate(time_outs.tolist()):
        run = run_stepwise(workload, Fixed(time_out_us))
        one = run.outcome()
        assert {name: getattr(found, name)[place] for name in SUMS} == {name: getattr(one, name)[0] for name in SUMS}
        again = exact.run(time_out_us)
        for field in attrs.fields_dict(type(run)):
            assert np.array_equal(getattr(run, field), getattr(again, field)), field
        latencies = exact.blocks.latencies_us(exact.cold_blocks(time_out_us))
        assert np.array_equal(latencies, run.ends_us - workload.asked_us)
        lowered_us = int((run.raised_us[1:] - run.lowered_us[:-1]).sum())
        assert lowered_us <= bounds.most_lowered_us[place]
    assert (bounds.fewest_cold <= found.cold).all()
    assert (bounds.least_busy_us <= found.busy_us).all()
    assert (bounds.least_waits_us <= found.waits_us).all()


@pytest.mark.parametrize("seed", range(20))
def test_how_many_are_late_is_counted_by_the_same_search(seed: int) -> None:
    """For each time-out it counts the inferences that take longer than a given time."""
    draw = np.random.default_rng(seed)
    exact = ExactTimeOuts(Blocks.of(Workload.of(any_session(draw), any_timing(draw))))
    time_outs = some_time_outs(exact, draw)
    for latency_us in (0, 1_000, 4_000, 8_000, 30_000):
        always, more = exact.blocks.later_than(latency_us)
        counter = Counter(exact, more)
        counted = always + counter.sums(time_outs)
        assert (counter.at_least(time_outs) + always <= counted).all()
        for time_out_us, count in zip(time_outs.tolist(), counted.tolist(), strict=True):
            latencies = exact.blocks.latencies_us(exact.cold_blocks(time_out_us))
            assert count == int((latencies > latency_us).sum())


def test_without_lateness_gaps_alone_count() -> None:
    """If a raise causes no wait, cold starts and time raised depend on the gaps alone."""
    draw = np.random.default_rng(7)
    session = any_session(draw, most=200)
    exact = ExactTimeOuts(Blocks.of(Workload.of(session, Timing())))
    time_outs = some_time_outs(exact, draw)
    gaps, found = session.gaps_us(), exact.outcomes(time_outs)
    begins, ends = session.busy_us()
    assert found.cold.tolist() == [int((gaps >= each).sum()) + 1 for each in time_outs]
    idle = [int(np.minimum(gaps, each).sum()) for each in time_outs]
    assert np.array_equal(found.raised_us, idle + (ends - begins).sum() + time_outs)


def test_periodic_gaps_alternate_within_the_lateness() -> None:
    """A raise that is 2 ms late leaves 30 ms of a 32 ms gap, so every second gap exceeds a time-out of 31 ms."""
    begins = np.arange(10, dtype=np.int64) * 34_000
    workload = Workload.of(SessionTrace("camera", None, begins, begins + 2_000), Timing(late_us=2_000))
    found = ExactTimeOuts(Blocks.of(workload)).outcomes(np.array([30_000, 30_001, 32_000, 32_001]))
    assert found.cold.tolist() == [10, 5, 5, 1]
    assert found.calls.tolist() == [20, 10, 10, 2]


def test_a_raise_that_is_too_late_for_the_search_is_refused() -> None:
    """Beyond 20 ms a gap may be too short for the lateness; such a session is run gap by gap."""
    draw = np.random.default_rng(1)
    with pytest.raises(ValueError, match="a raise takes 20001 us"):
        Blocks.of(Workload.of(any_session(draw), Timing(late_us=20_001)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("longest", [0, 64])
def test_intervals_and_rows_one_by_one_come_to_the_same(
    seed: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If rows are too long for intervals, each time-out is run alone, with the same results."""
    patch_private(monkeypatch, sums, LONGEST_ROW=longest)
    draw = np.random.default_rng(seed)
    workload = Workload.of(any_session(draw, most=30), Timing(late_us=8_000))
    exact = ExactTimeOuts(Blocks.of(workload))
    assert (exact.alternation is None) == (longest == 0)
    time_outs = some_time_outs(exact, draw)
    found, counted = exact.outcomes(time_outs), Counter(exact, np.ones(exact.blocks.first.size, np.int64))
    assert np.array_equal(counted.sums(time_outs), found.cold)
    for place, time_out_us in enumerate(time_outs.tolist()):
        one = run_stepwise(workload, Fixed(time_out_us)).outcome()
        assert {name: getattr(found, name)[place] for name in SUMS} == {name: getattr(one, name)[0] for name in SUMS}


def test_intervals_that_are_many_are_not_kept() -> None:
    """Gaps of almost equal length form endless rows, so the intervals are not collected."""
    draw = np.random.default_rng(1)
    gaps_us = draw.integers(30_000, 30_500, 5_000)
    assert Alternation.of(gaps_us, gaps_us - 2_000) is None
    assert Alternation.of(np.zeros(0, np.int64), np.zeros(0, np.int64)) is not None


def test_time_outs_near_many_gaps_and_near_few_come_to_what_a_run_does() -> None:
    """Most gaps are within 2 ms and depend on each other, a few do not; each time-out is exact."""
    draw = np.random.default_rng(2)
    gaps = np.where(
        draw.random(3_000) < 0.98, draw.integers(24_000, 26_000, 3_000), draw.integers(30_000, 90_000, 3_000)
    )
    begins = np.concatenate(([0], np.cumsum(gaps + 5_000)))
    workload = Workload.of(SessionTrace("camera", None, begins, begins + 5_000), Timing(late_us=2_000))
    exact = ExactTimeOuts(Blocks.of(workload))
    assert exact.alternation is None
    time_outs = np.concatenate((np.arange(22_000, 27_000, 250), np.arange(30_000, 90_000, 5_001)))
    found, counted = exact.outcomes(time_outs), Counter(exact, np.ones(exact.blocks.first.size, np.int64))
    assert np.array_equal(counted.sums(time_outs), found.cold)
    for place, time_out_us in enumerate(time_outs.tolist()):
        one = run_stepwise(workload, Fixed(time_out_us)).outcome()
        assert {name: getattr(found, name)[place] for name in SUMS} == {name: getattr(one, name)[0] for name in SUMS}

"""The description of a trace: quantiles, octaves, bursts, a period, and results of fixed sustain times."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import trace_files
from support.examples import examples

from htppower.tools.tuning.traces.describe import TIME_OUTS_US, describe, describe_session, octaves
from htppower.tools.tuning.traces.patterns import begun, burst_spans, busy_shares, valley_us
from htppower.tools.tuning.traces.trace import SessionTrace, Trace


def session(gaps_us: list[int], took_us: int = 2_000, name: str = "camera") -> SessionTrace:
    """Return inferences of equal length with these gaps."""
    begins_us = np.cumsum([0, *(gap_us + took_us for gap_us in gaps_us)])
    return SessionTrace(name, "burst", begins_us, begins_us + took_us)


def overlapping(spans: list[tuple[int, int]]) -> SessionTrace:
    """Return inferences with these begins and lengths."""
    ordered = sorted(spans)
    begins_us = np.array([begin_us for begin_us, _ in ordered], dtype=np.int64)
    return SessionTrace("x", None, begins_us, begins_us + np.array([took_us for _, took_us in ordered]))


def test_durations_and_gaps_are_told_by_times_that_were_measured() -> None:
    """A quantile is a measured time and not an average; the busy time and overlaps are counted."""
    said = describe_session(overlapping([(0, 10), (5, 20), (25, 5), (100, 7), (200, 1)]))
    assert (said.inferences, said.overlapping, said.busy_us, said.span_us) == (5, 1, 38, 201)
    assert (said.durations.least_us, said.durations.median_us, said.durations.most_us) == (1, 7, 20)
    assert said.gaps is not None
    assert (said.gaps.least_us, said.gaps.median_us, said.gaps.p99_us) == (0, 70, 93)
    assert said.cold is None


def test_one_inference_has_no_gaps() -> None:
    """A session with one inference has no values for gaps."""
    said = describe_session(session([]))
    assert (said.gaps, said.octaves, said.bursts, said.period, said.regular_share) == (None, (), None, None, 0.0)
    assert [each.warm for each in said.time_outs] == [0] * len(TIME_OUTS_US)


SPANS = st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**5)), min_size=1, max_size=60)


@examples(30)
@given(SPANS)
def test_a_time_out_is_what_a_timer_would_do(spans: list[tuple[int, int]]) -> None:
    """Warm inferences begin before the time-out or during another; wasted time is the time raised until then."""
    trace = overlapping(spans)
    for told in describe_session(trace).time_outs:
        up_until_us, busy_until_us, warm, idle_us = -1, -1, 0, 0
        for begin_us, end_us in zip(trace.begins_us.tolist(), trace.ends_us.tolist(), strict=True):
            runs = begin_us < busy_until_us
            warm += runs or begin_us < up_until_us
            if busy_until_us >= 0 and not runs:
                idle_us += min(begin_us, up_until_us) - busy_until_us
            busy_until_us = max(busy_until_us, end_us)
            up_until_us = busy_until_us + told.time_out_us
        assert (told.warm, told.idle_us) == (warm, idle_us), told.time_out_us
        assert told.share == warm / len(spans)


@examples(20)
@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=50))
def test_every_gap_is_in_one_octave(gaps_us: list[int]) -> None:
    """The octaves have no holes and no empty ends; counts and sums are complete."""
    told = octaves(np.array(gaps_us))
    assert sum(each.count for each in told) == len(gaps_us)
    assert sum(each.total_us for each in told) == sum(gaps_us)
    assert all(one.to_us == other.from_us for one, other in itertools.pairwise(told))
    assert all(told[place].count for place in (0, -1))
    for each in told:
        assert each.count == sum(each.from_us <= gap_us < each.to_us for gap_us in gaps_us)


def test_bursts_and_a_period_are_found() -> None:
    """A 30 Hz camera that is on now and then has its bursts, a threshold, and a period without the pauses."""
    ran = trace_files.camera(bursts=6, frames=40)
    begins_us = np.array([each.begin_us for each in ran])
    said = describe_session(SessionTrace("camera", None, begins_us, np.array([each.end_us for each in ran])))
    assert said.bursts is not None
    assert (said.bursts.count, said.bursts.inferences) == (6, 50)
    assert 40_000 < said.bursts.below_us < 2_000_000
    assert said.bursts.share == pytest.approx(1 - 5 / (len(ran) - 1))
    assert said.period is not None
    assert said.period.interval_us == pytest.approx(33_333, abs=20)
    assert said.period.hz == pytest.approx(30, abs=0.05)
    assert 50 < said.period.jitter_us < 150
    assert said.regular_share == said.period.share > 0.97


KINDS = {
    "exponential": lambda random: random.exponential(100_000, 500),
    "uniform": lambda random: random.uniform(0, 1_000_000, 500),
    "log-normal": lambda random: random.lognormal(10, 1.5, 500),
    "pareto": lambda random: (random.pareto(1.1, 500) + 1) * 1000,
    "few": lambda random: random.exponential(100_000, 7),
}


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_of_one_kind_are_no_bursts_and_have_no_period(kind: str) -> None:
    """Gaps with a single peak are not bursts, and irregular begins have no period."""
    random = np.random.default_rng(7)
    said = describe_session(session(KINDS[kind](random).astype(int).tolist()))
    assert said.bursts is None
    assert said.period is None


def test_few_draws_of_one_kind_look_like_bursts() -> None:
    """In samples of 10 to 3000 gaps, at most one in fifty looks like bursts."""
    found = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        gaps_us = random.exponential(10 ** random.uniform(3, 6), int(10 ** random.uniform(1, 3.5)))
        found += valley_us(gaps_us.astype(np.int64)) is not None
    assert found <= 3


def test_what_parts_bursts_lies_between_the_two_kinds_of_gaps() -> None:
    """The threshold between short gaps of about 10 ms and long gaps of about 5 s is near their logarithmic middle."""
    random = np.random.default_rng(5)
    gaps_us = np.where(np.arange(600) % 20 == 19, random.lognormal(15.4, 0.4, 600), random.lognormal(9.2, 0.3, 600))
    below_us = valley_us(gaps_us.astype(np.int64))
    assert below_us is not None
    assert 50_000 < below_us < 1_500_000


def test_the_session_with_most_inferences_comes_first() -> None:
    """A trace has source, format and notes, and counts all inferences."""
    trace = Trace("file", "csv", (session([5]), session([5, 6, 7], name="b")), ("a note",))
    said = describe(trace)
    assert (said.source, said.format, said.notes, said.inferences) == ("file", "csv", ("a note",), 6)
    assert [each.name for each in said.sessions] == ["b", "camera"]


@examples(20)
@given(SPANS, st.integers(1, 50))
def test_columns_share_out_the_busy_time(spans: list[tuple[int, int]], columns: int) -> None:
    """The columns of a picture add up to the busy time, and every inference begins in one column."""
    trace = overlapping(spans)
    said = describe_session(trace)
    shares = busy_shares(trace, said.begin_us, said.end_us, columns)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares.sum() * said.span_us / columns == pytest.approx(said.busy_us, rel=1e-6, abs=1)
    assert begun(trace, said.begin_us, said.end_us, columns).sum() == len(spans)


def test_bursts_are_spans_of_time() -> None:
    """A burst goes from its first begin to its last end."""
    begins_us, ends_us = burst_spans(session([10, 20, 5_000, 10]), 1_000)
    assert list(zip(begins_us.tolist(), ends_us.tolist(), strict=True)) == [(0, 6_030), (11_030, 15_040)]

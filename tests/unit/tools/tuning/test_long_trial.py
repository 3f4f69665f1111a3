"""A long recording that is computed part by part, compared with the same recording as a whole."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from support.inside import patch_private

from htppower.tools.tuning import long_trial
from htppower.tools.tuning.cost.workload import Timing
from htppower.tools.tuning.long_trial import LongTrial
from htppower.tools.tuning.traces.trace import SessionTrace, part_of
from htppower.tools.tuning.trial import Trial

COUNT = 4_000
SUSTAINS = (0, 20_000, 45_000, 200_000)


def drawn(longest_us: int, rare_us: int, *, apart: bool = True) -> SessionTrace:
    """Return inferences up to ``longest_us`` long, with gaps of 80 ms in the mean, and some of ``rare_us``."""
    draw = np.random.default_rng(3)
    takes = draw.integers(500, longest_us, COUNT)
    gaps = draw.exponential(80_000, COUNT).astype(np.int64)
    gaps[::50] += rare_us
    begins = np.cumsum(gaps + takes if apart else gaps)
    return SessionTrace("camera", None, begins, begins + takes)


def trials(session: SessionTrace, monkeypatch: pytest.MonkeyPatch) -> tuple[Trial, Trial]:
    """Return a trial of a session, and one of its parts of 500 inferences."""
    patch_private(monkeypatch, long_trial, PART=500, SEARCHED=100)
    whole = Trial(session, Timing(stretch=1.2, late_us=2_000, polls_us=1_000), 1_000_000)
    return whole, LongTrial(whole, session, SUSTAINS)


@pytest.mark.parametrize("apart", [True, False], ids=["one at a time", "side by side"])
def test_parts_between_long_gaps_are_exact(monkeypatch: pytest.MonkeyPatch, apart: bool) -> None:
    """If each part follows a gap that is longer than the sustain time, the sums of the parts are those of the whole."""
    whole, parts = trials(drawn(9_000, 400_000, apart=apart), monkeypatch)
    for sustain in SUSTAINS:
        ours, theirs = (attrs.astuple(each.outcome(sustain), recurse=False) for each in (parts, whole))
        assert np.array_equal(ours, theirs)
        assert parts.latency(sustain) == whole.latency(sustain)
    assert (parts.polled_us, parts.latency_sum_us) == (whole.polled_us, whole.latency_sum_us)


def test_a_part_without_overlaps_runs_side_by_side_as_the_recording_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """If two inferences of the recording overlap, no inference waits for another, in no part."""
    begins = np.arange(COUNT) * 10_000
    begins[::500] += 9_000
    session = SessionTrace("camera", None, np.sort(begins), np.sort(begins) + 6_000)
    apart = SessionTrace("camera", None, session.begins_us[1:400], session.ends_us[1:400])
    assert (session.one_at_a_time, part_of(session, slice(1, 400)).one_at_a_time, apart.one_at_a_time) == (
        False,
        False,
        True,
    )
    # Inferences twice as long overlap everywhere, unless each waits for the one before.
    patch_private(monkeypatch, long_trial, PART=500, SEARCHED=100)
    whole = Trial(session, Timing(stretch=2.0), 1_000_000)
    parts = LongTrial(whole, session, SUSTAINS)
    assert parts.latency(20_000) == whole.latency(20_000)
    assert whole.latency(20_000).max == 12_000


def test_votes_that_stay_up_between_parts_are_not_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sustain time beyond each gap, one inference waits, and the votes are up from first to last."""
    session = drawn(9_000, 0)
    patch_private(monkeypatch, long_trial, PART=500, SEARCHED=100)
    parts = LongTrial(Trial(session, Timing(late_us=2_000), 10_000_000), session, (10_000_000,))
    found = parts.outcome(10_000_000)
    up_us = session.ends_us[-1] - session.begins_us[0] + 10_000_000
    assert (int(found.cold[0]), int(found.raised_us[0])) == (1, int(up_us))


def test_latencies_beyond_a_quarter_of_a_second_are_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quantiles of longer latencies are at most 0.1 % too long; the longest latency is exact."""
    whole, parts = trials(drawn(3_000_000, 400_000), monkeypatch)
    ours, theirs = parts.latency(45_000), whole.latency(45_000)
    assert ours.max == theirs.max > 1_000_000
    for measure in ("p50", "p99"):
        assert 1 <= ours.of(measure) / theirs.of(measure) <= 1.001

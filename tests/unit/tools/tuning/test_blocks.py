"""Quantiles of latency from a table of counts."""

from __future__ import annotations

import numpy as np
import pytest
from support.inside import patch_private

from htppower.tools.tuning import trial
from htppower.tools.tuning.cost.blocks import Blocks, LatencyCounts
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.limits import quantiles_us
from htppower.tools.tuning.traces.trace import SessionTrace


@pytest.mark.parametrize("longest_us", [5_000, 3_000_000], ids=["short", "beyond the table"])
def test_counts_give_the_quantiles_of_all_latencies(longest_us: int) -> None:
    """For any sets of cold blocks in turn, the quantiles are those of the latencies of all inferences."""
    draw = np.random.default_rng(1)
    takes = draw.integers(0, longest_us, 500)
    asked = np.cumsum(takes + draw.integers(0, 60_000, 500)) - takes
    blocks = Blocks.of(Workload(asked, takes, True, 2_000))
    counts = LatencyCounts(blocks)
    for share in (0.0, 0.2, 0.9, 1.0, 0.5):
        cold = draw.random(blocks.first.size) < share
        assert counts.quantiles_us(cold) == quantiles_us(blocks.latencies_us(cold))


def test_a_long_recording_has_the_latencies_of_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial finds the same latencies with a table of counts, which it uses for long recordings, as without."""
    draw = np.random.default_rng(2)
    takes = draw.integers(1_000, 5_000, 300)
    ends = np.cumsum(takes + draw.integers(0, 90_000, 300))
    session, time_outs = SessionTrace("camera", None, ends - takes, ends), np.array([60_000, 20_000, 40_000])
    found = []
    for fewest in (1_000, 100):
        patch_private(monkeypatch, trial, FEWEST_COUNTED=fewest)
        tried = trial.Trial(session, Timing(late_us=2_000), 1_000_000)
        tried.look_at(time_outs, tried.outcomes(time_outs))
        found.append([tried.latency(each) for each in time_outs.tolist()])
    assert found[0] == found[1]

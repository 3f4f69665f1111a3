"""Quantiles of latency from a table of counts."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.tools.tuning.cost.blocks import Blocks
from htppower.tools.tuning.cost.latencies import LatencyCounts
from htppower.tools.tuning.cost.workload import Workload
from htppower.tools.tuning.limits import quantiles_us


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

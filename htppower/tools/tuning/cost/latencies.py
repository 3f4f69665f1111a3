"""Quantiles of latency for many time-outs: a table of counts, of which only the changed blocks are counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.tuning.limits import QUANTILES, quantiles_us, rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.cost.blocks import Blocks

# Latencies from here on are counted together, in us.
_LONGEST = 2**20


class LatencyCounts:
    """How many inferences take each number of us.

    Args:
        blocks: the blocks of a session.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._cold = np.zeros(blocks.first.size, np.bool_)
        self._counts = _counted(blocks.warm_latencies_us)

    def quantiles_us(self, cold: NDArray[np.bool_]) -> list[int]:
        """Return the quantiles of latency if some blocks are cold. Time-outs in rising order take least time."""
        blocks, counts = self._blocks, self._counts
        for now_cold in (True, False):
            changed = np.flatnonzero((cold != self._cold) & (cold == now_cold))
            if changed.size:
                inferences = blocks.inferences_of(changed)
                change = _counted(blocks.cold_latencies_us[inferences]) - _counted(blocks.warm_latencies_us[inferences])
                counts += change if now_cold else -change
        self._cold = cold
        sums = np.cumsum(counts)
        places = np.searchsorted(sums, [rank(measure, int(sums[-1])) for measure in QUANTILES])
        if places.max() == _LONGEST:
            return quantiles_us(blocks.latencies_us(cold))
        return places.tolist()


def _counted(latencies_us: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(np.minimum(latencies_us, _LONGEST), minlength=_LONGEST + 1)

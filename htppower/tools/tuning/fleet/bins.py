"""The 256 bins for counting gaps. Their edges are round times, so that advised time-outs are round, too.

From 10 ms to 6300 s, the edges are the preferred numbers of the series R40, ISO 3: each edge is at most 15/14 of the
edge before. Shorter time-outs are not kept by a timer (rule SUS-1), so the edges below 10 ms are coarser: 0, 1 us,
10 us, and the series R10 from 100 us. The last bin has no upper edge.
"""

from __future__ import annotations

import itertools

import numpy as np

# ISO 3:1973, series R40, times 100. Every fourth number is also in the series R10.
_R40 = (
    *(100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300),
    *(315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950),
)
BINS = 256


def _edges() -> tuple[int, ...]:
    coarse = [number * scale for scale in (1, 10) for number in _R40[::4]]
    fine = (number * scale for scale in (100 * 10**power for power in itertools.count()) for number in _R40)
    below = [0, 1, 10, *coarse]
    return (*below, *itertools.islice(fine, BINS - len(below)))


# The lower edge of each bin, in us.
EDGES_US = _edges()
# From 10 ms, the ratio of an edge to the edge before is at most 15/14.
LARGEST_STEP = (15, 14)
EDGES = np.array(EDGES_US, dtype=np.int64)
EDGES.setflags(write=False)


def bin_of(time_us: int) -> int:
    """Return the bin of a time."""
    return int(np.searchsorted(EDGES, time_us, side="right")) - 1

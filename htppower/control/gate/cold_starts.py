"""Cold starts: the inferences of a session that waited for a native call before they could begin."""

from __future__ import annotations

from bisect import bisect_left

import attrs

# Upper bounds of the bins. A raise takes 0.1 to 2 ms, or seconds while the DSP restarts.
WAIT_BOUNDS_US = (250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000)


@attrs.frozen(weakref_slot=False)
class ColdStarts:
    """How many inferences waited for a native call before they could begin, and how long.

    Attributes:
        wait_us: how long all of them waited together.
        by_bound: how many waits are in each bin of ``WAIT_BOUNDS_US``; the last bin holds all longer waits.
    """

    wait_us: int
    by_bound: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many cold starts there were."""
        return sum(self.by_bound)

    def after(self, wait_us: int) -> ColdStarts:
        """Return the counts with one more inference, which waited for this long."""
        place = bisect_left(WAIT_BOUNDS_US, wait_us)
        counts = self.by_bound
        return ColdStarts(self.wait_us + wait_us, (*counts[:place], counts[place] + 1, *counts[place + 1 :]))


NO_COLD_STARTS = ColdStarts(0, (0,) * (len(WAIT_BOUNDS_US) + 1))

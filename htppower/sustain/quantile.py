"""The shortest timeout that would have kept the cold starts in recent gaps within a given share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.base import Learner
from htppower.sustain.gap_counts import GapCounts

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive

# The timeouts to choose from, besides 0: four to an octave, from the shortest time that a timer can keep to more than
# an hour.
_EDGES_US = tuple(SHORTEST_SUSTAIN_US * (4 + part) << octave >> 2 for octave in range(18) for part in range(4))
# All counts are halved when there are this many gaps, or so many that a hundred of them may be cold starts.
_FEWEST_COUNTED = 256
_COLD_COUNTED = 100
_MILLION = 1_000_000


class Quantile(Learner):
    """Learns a timeout from gaps; see ``Learner``.

    The goal is the share of cold starts, so only ``most_us`` limits the cost of a gap, and hints have no effect. The
    timeout gets shorter only after an inference has waited for a raise.
    """

    __slots__ = ()

    def __init__(self, sustain: Adaptive) -> None:
        enough = _COLD_COUNTED * _MILLION // max(1, sustain.cold_starts_ppm or 0)
        super().__init__(sustain, GapCounts(_EDGES_US, max(_FEWEST_COUNTED, min(enough, _MILLION))))

    def _best_us(self) -> int:
        allowed = (self._sustain.cold_starts_ppm or 0) * self._counts.counted
        for time_out_us, _, others in self._counts.time_outs():
            if others * _MILLION <= allowed:
                return time_out_us
        return self._sustain.most_us

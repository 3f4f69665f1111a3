"""Makes the learner that a profile states: a leader, or the shortest timeout that keeps to a share of cold starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.base import GapCounts, Learner
from htppower.sustain.leader import Leader

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.base import LearnerState

# The timeouts to choose from, besides 0: four to an octave, from the shortest time that a timer can keep to more than
# an hour.
EDGES_US = tuple(SHORTEST_SUSTAIN_US * (4 + part) << octave >> 2 for octave in range(18) for part in range(4))
# All counts are halved when there are this many gaps, or so many that a hundred of them may be cold starts.
_FEWEST_COUNTED = 256
_COLD_COUNTED = 100
MILLION = 1_000_000


class Quantile(Learner):
    """Learns a timeout from gaps; see ``Learner``.

    The goal is the share of cold starts, so only ``most_us`` limits the cost of a gap, and hints have no effect. The
    timeout gets shorter only after an inference has waited for a raise.
    """

    __slots__ = ()

    def __init__(self, sustain: Adaptive) -> None:
        super().__init__(sustain, GapCounts(EDGES_US, most_counted(sustain)))

    def _best_us(self) -> int:
        allowed = (self._sustain.cold_starts_ppm or 0) * self._counts.counted
        for time_out_us, _, others in self._counts.time_outs():
            if others * MILLION <= allowed:
                return time_out_us
        return self._sustain.most_us


def most_counted(sustain: Adaptive) -> int:
    """Return the number of gaps at which all counts are halved."""
    enough = _COLD_COUNTED * MILLION // max(1, sustain.cold_starts_ppm or 0)
    return max(_FEWEST_COUNTED, min(enough, MILLION))


def make_learner(sustain: Adaptive, state: LearnerState | None = None) -> Learner:
    """Return a new learner, or one that continues with the ``state`` of another learner.

    Raises:
        ValueError, KeyError, TypeError: the state does not fit these parameters.
    """
    learner: Learner = Quantile(sustain) if sustain.break_even_us is None else Leader(sustain)
    if state is not None:
        learner.restore(state)
    return learner

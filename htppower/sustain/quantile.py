"""The shortest time-out that keeps to a share of cold starts, by the gaps counted lately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.gap_counts import GapCounts
from htppower.sustain.savings import Savings
from htppower.sustain.whole_numbers import whole, wholes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.sustain import Adaptive

# The time-outs to choose from, beside 0: four to an octave, from the shortest that a timer keeps to more than an hour.
_EDGES_US = tuple(SHORTEST_SUSTAIN_US * (4 + part) << octave >> 2 for octave in range(18) for part in range(4))
# With so many gaps counted all counts are halved, or with so many that a hundred of them may be cold starts.
_FEWEST_COUNTED = 256
_COLD_COUNTED = 100
_MILLION = 1_000_000


class Quantile:
    """Learns a time-out from gaps; see ``Learner``.

    It has no bound on the cost but ``most_us`` for each gap: the share is what counts. A gap within the time-out never
    changes it, so that it comes down only when an inference has waited for a raise.

    Args:
        sustain: the share of cold starts, and limits.
    """

    __slots__ = ("_counts", "_savings", "_sustain", "time_out_us")

    def __init__(self, sustain: Adaptive) -> None:
        self._sustain = sustain
        enough = _COLD_COUNTED * _MILLION // max(1, sustain.cold_starts_ppm or 0)
        self._counts = GapCounts(_EDGES_US, max(_FEWEST_COUNTED, min(enough, _MILLION)))
        self._savings = Savings()
        self.time_out_us = sustain.first_us

    @property
    def gaps(self) -> int:
        """How many gaps were learnt from."""
        return self._savings.gaps

    def learn(self, gap_us: int, *, waited: bool = True) -> None:
        """Learn from a gap that has ended; a new time-out follows from one that was not shorter than it."""
        if gap_us < self.time_out_us:
            self.learn_within([gap_us])
            return
        self._savings = self._savings.after([gap_us], self.time_out_us, waited=waited)
        self._counts.add([gap_us])
        self._counts.age()
        self.time_out_us = self._shortest_us()

    def learn_within(self, gaps_us: list[int]) -> None:
        """Learn from gaps that were all shorter than the time-out, which stays as it is."""
        gaps_us.sort()
        self._savings = self._savings.after(gaps_us)
        self._counts.add(gaps_us)

    @property
    def learnt_us(self) -> int:
        """The sustain time that was learnt, in us."""
        return self.time_out_us

    def hint(self, gap_us: int, passed_us: int = 0) -> None:
        """Take no notice: a share of cold starts is kept by what the gaps were."""

    def forget_hint(self) -> None:
        """Do nothing: no hint is taken."""

    def savings(self) -> Savings:
        """Return what the time-outs have cost, beside what a timer of 300 ms would have."""
        return self._savings

    def state(self) -> dict[str, int | list[int]]:
        """Return all that it knows, as plain values."""
        return {
            "time_out_us": self.time_out_us,
            "counts": list(self._counts.counts),
            "sums_us": list(self._counts.sums_us),
            "savings": list(self._savings),
        }

    @classmethod
    def restored(cls, sustain: Adaptive, state: Mapping[str, int | list[int]]) -> Quantile:
        """Return a learner that knows what another knew.

        Raises:
            ValueError, KeyError, TypeError: this is no state of one with these parameters.
        """
        made = cls(sustain)
        made._counts.restore(wholes(state["counts"]), wholes(state["sums_us"]))
        made._savings = Savings._make(wholes(state["savings"]))
        made.time_out_us = made._limited(whole(state["time_out_us"]))
        return made

    def _shortest_us(self) -> int:
        allowed = (self._sustain.cold_starts_ppm or 0) * self._counts.counted
        for time_out_us, _, others in self._counts.time_outs():
            if others * _MILLION <= allowed:
                return self._limited(time_out_us)
        return self._limited(self._sustain.most_us)

    def _limited(self, time_out_us: int) -> int:
        return max(self._sustain.least_us, min(time_out_us, self._sustain.most_us))

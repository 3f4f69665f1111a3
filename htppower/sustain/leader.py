"""The leader with a bank: the timeout that would have cost least in recent gaps, within a bound on the total cost.

Idle votes that stay up cost 1 for each us. Lowering and raising them costs the break-even time B. The clairvoyant pays
min(gap, B). The leader is the cheapest of a few timeouts for the gaps counted so far. A bank S holds what was saved
against twice the clairvoyant. The timeout stays within S / 2 of B, so S never runs out, and the cost of all gaps stays
below twice the clairvoyant's plus 2 B. The proof is in docs/adaptive_sustain.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.base import GapCounts, Learner, whole

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.base import LearnerState

# All counts are halved when there are this many gaps.
MOST_COUNTED = 256
# The bank at first and at most, in break-even times.
FIRST_BANK = 2
MOST_BANK = 64
# How much longer than a predicted gap the timeout is, as a fraction of the gap.
_SLACK_PART = 4
# The timeouts to choose from, in sixteenths of B, besides 0.
SIXTEENTHS = (1, 2, 4, 8, 16, 32)


class Leader(Learner):
    """Learns a timeout from gaps; see ``Learner``.

    No timer keeps a time below 20 ms (rule SUS-1). So the bank uses a break-even time of at least 20 ms, and a timeout
    between 0 and 20 ms becomes 20 ms, unless the profile itself limits it to such a time.
    """

    __slots__ = ("_bank_us", "_worth_us")

    def __init__(self, sustain: Adaptive) -> None:
        self._worth_us = worth_us = sustain.worth_us
        super().__init__(sustain, GapCounts(edges_of(sustain), MOST_COUNTED))
        self._bank_us = FIRST_BANK * worth_us

    def learn_within(self, gaps_us: list[int]) -> None:
        """Learn from gaps that were all shorter than the timeout; the bank grows."""
        super().learn_within(gaps_us)
        worth_us = self._worth_us
        if gaps_us and gaps_us[-1] >= worth_us:
            gaps_us = [gap_us if gap_us < worth_us else 2 * worth_us - gap_us for gap_us in gaps_us]
        self._put_in_bank(sum(gaps_us))

    def hint(self, gap_us: int, passed_us: int = 0) -> None:
        """For a long gap, choose the shortest timeout that the bank allows; for a short gap, the gap and a quarter."""
        slack_us = max(gap_us // _SLACK_PART, SHORTEST_SUSTAIN_US)
        # The timeout can't be shorter than the time that has passed: the votes were up until now, and the bank pays for
        # this time.
        self.time_out_us = max(passed_us, self._limited(0 if gap_us >= self._worth_us else gap_us + slack_us))

    def state(self) -> dict[str, int | list[int]]:
        """Return all that the learner knows."""
        return {"bank_us": self._bank_us, **super().state()}

    def restore(self, state: LearnerState) -> None:
        """Continue with the state of another learner.

        Several learners may continue with one state, so the bank is no larger than in a new learner.
        """
        bank_us = whole(state["bank_us"])
        if bank_us > MOST_BANK * self._worth_us:
            raise ValueError("a bank of another break-even time")
        self._bank_us = min(bank_us, self._bank_us)
        super().restore(state)

    def _pay(self, gap_us: int) -> None:
        self._put_in_bank(2 * min(gap_us, self._worth_us) - self.time_out_us - self._worth_us)

    def _put_in_bank(self, us: int) -> None:
        # The sum can be negative only if ``least_us`` or ``most_us`` forces a timeout that the bank does not allow.
        self._bank_us = max(0, min(self._bank_us + us, MOST_BANK * self._worth_us))

    def _best_us(self) -> int:
        # This uses the break-even time of the profile, even below 20 ms. If two timeouts cost the same, the shorter one
        # is chosen.
        break_even_us = self._sustain.break_even_us or 0
        return min(
            (shorter_us + others * (_kept(time_out_us) + break_even_us), time_out_us)
            for time_out_us, shorter_us, others in self._counts.time_outs()
        )[1]

    def _limited(self, time_out_us: int) -> int:
        """Limit a timeout first to what the bank allows, and then to the profile's limits."""
        worth_us, half_us = self._worth_us, self._bank_us // 2
        within_us = max(worth_us - half_us, min(time_out_us, 2 * worth_us, worth_us + half_us))
        return super()._limited(_kept(within_us))


def edges_of(sustain: Adaptive) -> tuple[int, ...]:
    """Return the timeouts to choose from, besides 0."""
    return tuple(max(1, sustain.worth_us * part // 16) for part in SIXTEENTHS)


def _kept(time_out_us: int) -> int:
    """Return the time that a timer can really keep for this timeout."""
    return time_out_us if time_out_us <= 0 else max(time_out_us, SHORTEST_SUSTAIN_US)

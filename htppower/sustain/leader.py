"""The leader with a bank: the time-out that would have cost least lately, within a bound on what it may ever cost.

Votes that are up and idle cost 1 a us; lowering and raising them again costs the break-even time B. The clairvoyant
pays min(gap, B). The leader is that of a few time-outs which the gaps counted so far make cheapest. A bank S holds what
was saved against twice the clairvoyant; the time-out stays within S / 2 of B, so that S never runs out, and the cost of
all gaps stays below twice that of the clairvoyant and 2 B. The proof is in docs/adaptive_sustain.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.gap_counts import GapCounts
from htppower.sustain.savings import Savings
from htppower.sustain.whole_numbers import whole, wholes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.sustain import Adaptive

# With so many gaps counted all counts are halved.
_MOST_COUNTED = 256
# What the bank holds at first and at most, in break-even times.
_FIRST_BANK = 2
_MOST_BANK = 64
# By which part of a predicted gap it may be longer.
_SLACK_PART = 4
# The time-outs that may lead, in sixteenths of B, beside 0.
_SIXTEENTHS = (1, 2, 4, 8, 16, 32)


class Leader:
    """Learns a time-out from gaps; see ``Learner``.

    Args:
        sustain: break-even time, and limits. Below 20 ms no timer keeps a time (rule SUS-1): the bank goes by 20 ms at
            least, and a time-out between 0 and 20 ms is 20 ms, unless a limit is such a time.
    """

    __slots__ = ("_bank_us", "_counts", "_savings", "_sustain", "_worth_us", "learnt_us", "time_out_us")

    def __init__(self, sustain: Adaptive) -> None:
        self._sustain = sustain
        self._worth_us = worth_us = sustain.worth_us
        self._counts = GapCounts(tuple(max(1, worth_us * part // 16) for part in _SIXTEENTHS), _MOST_COUNTED)
        self._bank_us = _FIRST_BANK * worth_us
        self._savings = Savings()
        self.time_out_us = self.learnt_us = self._limited(worth_us)

    @property
    def gaps(self) -> int:
        """How many gaps were learnt from."""
        return self._savings.gaps

    def learn(self, gap_us: int, *, waited: bool = True) -> None:
        """Learn from a gap that has ended; a new time-out follows from one that was not shorter than it."""
        if gap_us < self.time_out_us:
            self.learn_within([gap_us])
            self.forget_hint()
            return
        time_out_us, worth_us = self.time_out_us, self._worth_us
        self._put_in_bank(2 * min(gap_us, worth_us) - time_out_us - worth_us)
        self._savings = self._savings.after([gap_us], time_out_us, waited=waited)
        self._counts.add([gap_us])
        self._counts.age()
        self._lead()

    def learn_within(self, gaps_us: list[int]) -> None:
        """Learn from gaps that were all shorter than the time-out, which stays as it is."""
        worth_us = self._worth_us
        gaps_us.sort()
        self._savings = self._savings.after(gaps_us)
        self._counts.add(gaps_us)
        if gaps_us and gaps_us[-1] >= worth_us:
            gaps_us = [gap_us if gap_us < worth_us else 2 * worth_us - gap_us for gap_us in gaps_us]
        self._put_in_bank(sum(gaps_us))

    def hint(self, gap_us: int, passed_us: int = 0) -> None:
        """Lower as soon as the bank bears it before a long gap; before a short one stay up until it should be over."""
        slack_us = max(gap_us // _SLACK_PART, SHORTEST_SUSTAIN_US)
        # The bank pays for what is done: no earlier time than now can be chosen any more.
        self.time_out_us = max(passed_us, self._limited(0 if gap_us >= self._worth_us else gap_us + slack_us))

    def forget_hint(self) -> None:
        """Go by what the gaps were."""
        self.time_out_us = self.learnt_us

    def savings(self) -> Savings:
        """Return what the time-outs have cost, beside what a timer of 300 ms would have."""
        return self._savings

    def state(self) -> dict[str, int | list[int]]:
        """Return all that it knows, as plain values."""
        return {
            "bank_us": self._bank_us,
            "time_out_us": self.learnt_us,
            "counts": list(self._counts.counts),
            "sums_us": list(self._counts.sums_us),
            "savings": list(self._savings),
        }

    @classmethod
    def restored(cls, sustain: Adaptive, state: Mapping[str, int | list[int]]) -> Leader:
        """Return a learner that knows what another knew. Its bank is that of a new one at most, as several may go on.

        Raises:
            ValueError, KeyError, TypeError: this is no state of one with these parameters.
        """
        made = cls(sustain)
        bank_us, time_out_us = whole(state["bank_us"]), whole(state["time_out_us"])
        if bank_us > _MOST_BANK * made._worth_us:
            raise ValueError("a bank of another break-even time")
        made._counts.restore(wholes(state["counts"]), wholes(state["sums_us"]))
        made._savings = Savings._make(wholes(state["savings"]))
        made._bank_us = min(bank_us, made._bank_us)
        made.time_out_us = made.learnt_us = made._limited(time_out_us)
        return made

    def _put_in_bank(self, us: int) -> None:
        # Below 0 it comes only where least_us or most_us keep the time-out from what the bank bears.
        self._bank_us = max(0, min(self._bank_us + us, _MOST_BANK * self._worth_us))

    def _lead(self) -> None:
        self.time_out_us = self.learnt_us = self._limited(self._leader_us())

    def _leader_us(self) -> int:
        """Return the time-out that would have cost least, by the break-even time as stated; the shorter one of two."""
        break_even_us = self._sustain.break_even_us or 0
        return min(
            (shorter_us + others * (_kept(time_out_us) + break_even_us), time_out_us)
            for time_out_us, shorter_us, others in self._counts.time_outs()
        )[1]

    def _limited(self, time_out_us: int) -> int:
        """Return a time-out within what the bank bears, then within the limits that are stated."""
        sustain, worth_us, half_us = self._sustain, self._worth_us, self._bank_us // 2
        within_us = max(worth_us - half_us, min(time_out_us, 2 * worth_us, worth_us + half_us))
        return max(sustain.least_us, min(_kept(within_us), sustain.most_us))


def _kept(time_out_us: int) -> int:
    """Return the time that a timer keeps in the place of one that it can't."""
    return time_out_us if time_out_us <= 0 else max(time_out_us, SHORTEST_SUSTAIN_US)

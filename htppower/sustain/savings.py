"""What the sustain times that were chosen have cost, beside what the vendor's timer would have."""

from __future__ import annotations

from typing import NamedTuple

from htppower.profiles.sustain import VENDOR_SUSTAIN_US


class Savings(NamedTuple):
    """What the choices of a learner have cost, and what a timer of 300 ms would have for the same gaps.

    Attributes:
        gaps: how many there were.
        raised_us: how long votes were up while the session was idle, but for raises ahead.
        cold_starts: how many inferences waited for a raise: their gaps were not shorter than the time-out, and nothing
            raised the votes ahead of them.
        fixed_raised_us, fixed_cold_starts: the same with a timer of 300 ms.
    """

    gaps: int = 0
    raised_us: int = 0
    cold_starts: int = 0
    fixed_raised_us: int = 0
    fixed_cold_starts: int = 0

    def after(self, gaps_us: list[int], time_out_us: int | None = None, *, waited: bool = True) -> Savings:
        """Return the sums with more gaps, which are sorted: with a time-out that each of them reached, or None."""
        gaps, sum_us, longer = len(gaps_us), sum(gaps_us), 0
        fixed_us = sum_us
        if gaps and gaps_us[-1] >= VENDOR_SUSTAIN_US:
            longer_us = [gap_us for gap_us in gaps_us if gap_us >= VENDOR_SUSTAIN_US]
            longer = len(longer_us)
            fixed_us += VENDOR_SUSTAIN_US * longer - sum(longer_us)
        return Savings(
            self.gaps + gaps,
            self.raised_us + (sum_us if time_out_us is None else time_out_us * gaps),
            self.cold_starts + (gaps if waited and time_out_us is not None else 0),
            self.fixed_raised_us + fixed_us,
            self.fixed_cold_starts + longer,
        )

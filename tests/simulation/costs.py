"""What the sustain times that a session has learnt have cost, beside what the clairvoyant would have paid.

Written from ``docs/adaptive_sustain.md`` alone: "After any gaps the cost is at most twice what the clairvoyant pays,
plus 2 B." The cost is measured at the simulated HTP.
"""

from __future__ import annotations

import attrs
from simulation.expectations import BREAK_EVEN_US, LEARNS


@attrs.define(eq=False)
class Costs:
    """The costs of a session, where all its gaps are known.

    Attributes:
        known: whether they are.
        ended_us: when its last inference ended, in time in which nobody could go on: a task that is slow costs nothing.
        first_call_us: when the first call after that began, likewise: votes come down no sooner.
        down: whether they have.
        paid_us, clairvoyant_us: what was paid, at least, and what the clairvoyant has, at most.
        gaps: how many gaps it can have learnt from at most.
        learnt: how many gaps the profile whose cost is bounded must have been learnt from at least.
        to_learn: how many calls there were that concern the session when an inference ended such a gap that runs still:
            one that votes were up in is learnt from when that ends, unless another profile is used before.
        began: under which profile an inference has begun for certain that runs still, and ``asked`` then.
        whole: whether the last inference that ended ran under one profile from end to end.
        gap_open: whether a gap may have begun that the next inference ends.
        ends: how many inferences have ended.
    """

    known: bool = True
    ended_us: int = 0
    first_call_us: int | None = None
    down: bool = False
    paid_us: int = 0
    clairvoyant_us: int = 0
    gaps: int = 0
    learnt: int = 0
    to_learn: int | None = None
    began: tuple[str, int] | None = None
    whole: bool = False
    gap_open: bool = False
    ends: int = 0

    def ended(self, idle_us: int) -> None:
        """Take in that an inference ends."""
        self.ended_us, self.first_call_us, self.down = idle_us, None, False
        self.gap_open = True
        self.ends += 1

    def call_begins(self, idle_us: int) -> None:
        """Take in that votes may be coming down."""
        if self.first_call_us is None:
            self.first_call_us = idle_us

    def may_end_gap(self) -> int | None:
        """Take in that an inference may begin; return what ``has_begun`` is to be told, where that is to be."""
        self.gaps += self.gap_open
        return None if self.gap_open else self.ends

    def has_begun(self, ends: int | None) -> None:
        """Take in that it has begun, or has not: an inference that ended meanwhile may have begun a gap before it."""
        self.gaps += ends is not None and ends < self.ends

    def learns(self, name: str, asked: int) -> None:
        """Take in that an inference has ended of a session that uses this profile for certain."""
        self.whole = self.began == (name, asked)
        self.learnt += name == LEARNS and self.whole and asked == self.to_learn
        self.to_learn = None

    def gap(self, name: str | None, gap_us: int, idle_us: int, asked: int) -> None:
        """Take in a gap of a session that uses this profile for certain."""
        if name != LEARNS:
            self.known = False
            return
        self.to_learn = asked if self.whole else None
        if self.down and self.first_call_us is not None:
            self.paid_us += self.first_call_us - self.ended_us + BREAK_EVEN_US
        else:
            # Of a gap in which votes did not come down, what went by while nobody could go on.
            self.paid_us += idle_us - self.ended_us
        self.clairvoyant_us += min(gap_us, BREAK_EVEN_US)

    @property
    def too_high(self) -> bool:
        """Whether the bound is broken."""
        return self.known and self.paid_us > 2 * self.clairvoyant_us + 2 * BREAK_EVEN_US

    def __str__(self) -> str:
        """Return them in a few words."""
        return f"{self.paid_us} us paid, {self.clairvoyant_us} us by the clairvoyant, B {BREAK_EVEN_US} us"

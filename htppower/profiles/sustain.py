"""How long votes stay up after the last inference: a fixed time, or one that is learnt from the gaps of a session."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.votes.field_repr import field_repr

# An hour. A vote held up longer than that by a timer alone is a mistake, not a profile.
LONGEST_SUSTAIN_US = 3_600_000_000
# How long the vendor's own voter keeps votes up where it does, and ONNX Runtime (measured).
VENDOR_SUSTAIN_US = 300_000
# How long a share of cold starts keeps votes up at most where it does not say that.
_MOST_US = 10_000_000


@attrs.frozen
class Adaptive:
    """A sustain time that is learnt: each session chooses it anew from the gaps between its inferences.

    Either ``break_even_us`` or ``cold_starts_ppm`` is stated, and says what a short time and a long one cost.

    Attributes:
        break_even_us: how long votes that are up and idle cost as much as a raise and a lowering do, in us, 1 and
            more. The time is that which would have cost least, within a bound: never more than twice what the
            clairvoyant pays, and two break-even times (docs/adaptive_sustain.md).
        cold_starts_ppm: the share of the inferences after a gap that may wait for a raise, in millionths. The time is
            the shortest that would have kept to it.
        least_us, most_us: the shortest and the longest time, in us. Beside ``break_even_us`` the bound holds only
            where the break-even time is within them.
    """

    break_even_us: int | None = None
    cold_starts_ppm: int | None = None
    least_us: int = 0
    most_us: int = attrs.field()

    __repr__ = field_repr

    @most_us.default
    def _as_long_as_it_pays(self) -> int:
        # What is no number is refused with the profile, by its name.
        return min(2 * self.worth_us, LONGEST_SUSTAIN_US) if isinstance(self.break_even_us, int) else _MOST_US

    @property
    def worth_us(self) -> int:
        """The break-even time that is gone by, in us. No timer keeps a shorter time than rule SUS-1 allows."""
        return max(self.break_even_us or 0, SHORTEST_SUSTAIN_US)

    @property
    def first_us(self) -> int:
        """The time before anything is learnt, in us."""
        first_us = VENDOR_SUSTAIN_US if self.break_even_us is None else self.worth_us
        return max(self.least_us, min(first_us, self.most_us))


# How long votes stay up, in us, or how that is learnt.
Sustain: TypeAlias = int | Adaptive


def first_us(sustain: Sustain) -> int:
    """Return how long votes stay up before anything is learnt, in us."""
    return sustain.first_us if isinstance(sustain, Adaptive) else sustain


def shortest_us(sustain: Sustain) -> int:
    """Return how long votes stay up at least, in us."""
    return sustain.least_us if isinstance(sustain, Adaptive) else sustain


def longest_us(sustain: Sustain) -> int:
    """Return how long votes stay up at most, in us."""
    return sustain.most_us if isinstance(sustain, Adaptive) else sustain

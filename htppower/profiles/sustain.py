"""How long votes stay up after the last inference: a fixed time, or a time learnt from the gaps of a session.

Also shares of cold starts, which a file states in per cent, such as ``5 %``, and a profile in millionths.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import attrs

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US

# An hour. A timer that keeps a vote up for longer is a mistake.
LONGEST_SUSTAIN_US = 3_600_000_000
# How long the vendor's own voter and ONNX Runtime keep votes up, if they do (measured).
VENDOR_SUSTAIN_US = 300_000
# The default longest time, for a share of cold starts.
_MOST_US = 10_000_000
# A share of cold starts: more than 0 and less than 100 %, with at most four decimals: exact in millionths.
SHARE_PATTERN = r"(?!0(\.0+)? ?%)[1-9]?[0-9](\.[0-9]{1,4})? ?%"
SHARE_LIMITS_PPM = (1, 999_999)
_PPM_OF_A_PER_CENT = 10_000


@attrs.frozen
class Adaptive:
    """A learnt sustain time: each session adapts it to the gaps between its inferences.

    Exactly one of ``break_even_us`` and ``cold_starts_ppm`` is stated; it weighs a short time against a long one.

    Attributes:
        break_even_us: how long idle votes that are up cost as much as a raise and a lowering, in us, 1 or more. The
            chosen time is the one that would have cost least. Its cost has a bound, which is twice the cost with
            perfect foresight plus two break-even times (docs/adaptive_sustain.md).
        cold_starts_ppm: the share of the inferences after a gap that may wait for a raise, in millionths. The chosen
            time is the shortest that would have kept this share.
        least_us, most_us: the shortest and the longest time, in us. With ``break_even_us`` the bound holds only if the
            break-even time is between them.
    """

    break_even_us: int | None = None
    cold_starts_ppm: int | None = None
    least_us: int = 0
    most_us: int = attrs.field()

    @most_us.default
    def _as_long_as_it_pays(self) -> int:
        # A value that is not a number is refused later with the profile, under its name.
        return min(2 * self.worth_us, LONGEST_SUSTAIN_US) if isinstance(self.break_even_us, int) else _MOST_US

    @property
    def worth_us(self) -> int:
        """The break-even time that is used, in us. No timer keeps a shorter time than rule SUS-1 allows."""
        return max(self.break_even_us or 0, SHORTEST_SUSTAIN_US)

    @property
    def first_us(self) -> int:
        """The time before any gap is learnt, in us."""
        first_us = VENDOR_SUSTAIN_US if self.break_even_us is None else self.worth_us
        return max(self.least_us, min(first_us, self.most_us))


# How long votes stay up, in us, or how that is learnt.
Sustain: TypeAlias = int | Adaptive


def first_us(sustain: Sustain) -> int:
    """Return how long votes stay up before any gap is learnt, in us."""
    return sustain.first_us if isinstance(sustain, Adaptive) else sustain


def shortest_us(sustain: Sustain) -> int:
    """Return the shortest time that votes may stay up, in us."""
    return sustain.least_us if isinstance(sustain, Adaptive) else sustain


def longest_us(sustain: Sustain) -> int:
    """Return the longest time that votes may stay up, in us."""
    return sustain.most_us if isinstance(sustain, Adaptive) else sustain


def is_share(text: str) -> bool:
    """Return whether a text is a share in per cent."""
    return re.fullmatch(SHARE_PATTERN, text) is not None


def share_ppm(text: str) -> int:
    """Return a share in millionths."""
    whole, _, rest = text.rstrip(" %").partition(".")
    return int(whole) * _PPM_OF_A_PER_CENT + int(rest.ljust(4, "0"))


def share_text(ppm: int) -> str:
    """Return millionths in the spelling of a file."""
    whole, rest = divmod(ppm, _PPM_OF_A_PER_CENT)
    return f"{f'{whole}.{rest:04}'.rstrip('0').rstrip('.')} %"

"""A comparison as one value, and its result in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.words import percent, time
from htppower.tools.review.compare.comparable import Found, Weight, check
from htppower.tools.review.compare.difference import CONFIDENCE, Differences
from htppower.tools.review.compare.parts import differences
from htppower.tools.review.compare.side import thinned
from htppower.tools.review.compare.suggestions import Suggestion, suggest

if TYPE_CHECKING:
    from htppower.tools.review.advice.measurement import Measurement

# A part with less of the difference is not named in the result.
_NAMED = 0.2


@attrs.frozen(eq=False)
class Comparison:
    """Two measurements, what differs, what makes them hard to compare, and what to try."""

    a: Measurement
    b: Measurement
    differences: Differences
    findings: tuple[Found, ...]
    suggestions: tuple[Suggestion, ...]

    @property
    def comparable(self) -> bool:
        """Whether no finding says that the two can't be compared."""
        return not any(found.weight is Weight.BLOCKS for found in self.findings)


def compare(a: Measurement, b: Measurement) -> Comparison:
    """Return the comparison of two measurements. The same files always give the same numbers.

    Raises:
        HtpPowerError: they have no time in common.
    """
    a, b = thinned(a), thinned(b)
    found = differences(a, b)
    return Comparison(a, b, found, check(a, b, found), suggest(a, b, found))


def more(ratio: float) -> str:
    """Return by how much a ratio is above or below 1: ``+34 %``, ``-3.2 %``, ``0 %``."""
    sign = "+" if ratio > 1 else "-" if ratio < 1 else ""
    return f"{sign}{percent(abs(ratio - 1))}"


def headline(comparison: Comparison) -> str:
    """Return the result in one line."""
    found = comparison.differences
    whole = found.whole
    said = f"{time(whole.b_us)} against {time(whole.a_us)}, {more(found.ratio)}"
    if found.ratio_low is None or found.ratio_high is None:
        return f"B takes {said}; too little is known of the runs to say whether this is chance."
    between = f"{percent(CONFIDENCE)} interval {more(found.ratio_low)} to {more(found.ratio_high)}"
    if not whole.shown:
        return f"No difference is shown: B takes {said}, and the {between} includes 0."
    doubt = "" if comparison.comparable else " But they are not comparable, see below."
    return f"B is {'slower' if whole.by_us > 0 else 'faster'}: {said} ({between}).{doubt}"


def where(comparison: Comparison) -> str:
    """Return where the difference lies, in a sentence."""
    found = comparison.differences
    if not found.parts:
        return f"Only {found.whole.name} is known of both, not where the time goes."
    if found.whole.low_us is None:
        return "In which part it lies is not known either: the parts have no intervals."
    if not found.whole.shown:
        return "No part is made out, since the whole does not differ."
    largest = sorted((part for part in found.parts if part.shown), key=lambda part: -part.share)
    named = [f"{part.name} ({percent(min(1.0, part.share))})" for part in largest if part.share >= _NAMED]
    if not named:
        return "No single part explains much of it."
    return f"Most of it lies in {' and '.join(named)}."

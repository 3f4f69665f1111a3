"""Limits that a session must keep to, such as ``p99 <= 12 ms`` or ``cold <= 5 %``."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

# Each quantile is the shortest time that at least this share of the inferences does not exceed.
QUANTILES = {
    "p50": Fraction(1, 2),
    "p90": Fraction(9, 10),
    "p95": Fraction(19, 20),
    "p99": Fraction(99, 100),
    "p99.9": Fraction(999, 1000),
    "max": Fraction(1),
}
MEAN = "mean"
COLD = "cold"
MEASURES = (*QUANTILES, MEAN, COLD)
# A limit may be a fraction of 1 us, unlike the durations that report/words.py reads.
_US = {"us": 1, "\u00b5s": 1, "ms": 1_000, "s": 1_000_000}
_FORM = re.compile(
    r"\s*(?P<measure>[\w.]+)\s*(?P<sign><=|\u2264|=<|<)\s*(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<unit>\S*)\s*"
)
_SAYS = f"write MEASURE <= NUMBER UNIT, such as 'p99 <= 12 ms' or 'cold <= 5 %'; the measures are {', '.join(MEASURES)}"


@attrs.frozen
class Limit:
    """The most that a measure may be.

    Attributes:
        measure: one of ``QUANTILES`` or the ``mean`` of the latency, or ``cold``, the share of the inferences that wait
            for a raise.
        most: in us, or as a share from 0 to 1.
        text: the limit as the user wrote it.
    """

    measure: str
    most: Fraction
    text: str

    def __str__(self) -> str:
        """Return the limit as the user wrote it."""
        return self.text

    def holds(self, value: float) -> bool:
        """Return whether a value of the measure is within the limit; a value that equals the limit is."""
        return value <= float(self.most)


def parse_limit(text: str) -> Limit:
    """Return a limit from its text.

    Raises:
        ValueError: the text is not a limit; the message explains the form.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a limit: {_SAYS}")
    measure, unit = found["measure"], found["unit"]
    if measure not in MEASURES:
        raise ValueError(f"{text!r} is not a limit: {measure!r} is not a measure; {_SAYS}")
    if found["sign"] in ("<", "=<"):
        raise ValueError(f"{text!r} is not a limit: write <= instead of {found['sign']}")
    number = Fraction(found["number"])
    if measure == COLD:
        if unit != "%":
            raise ValueError(f"{text!r} is not a limit: cold is a share of the inferences, such as 'cold <= 5 %'")
        if number > 100:  # noqa: PLR2004 - per cent
            raise ValueError(f"{text!r} is not a limit: a share is at most 100 %")
        return Limit(measure, number / 100, text.strip())
    if unit not in _US:
        raise ValueError(f"{text!r} is not a limit: {measure} is a time, in us, ms or s")
    return Limit(measure, number * _US[unit], text.strip())


def rank(measure: str, count: int) -> int:
    """Return how many of ``count`` inferences are at least as fast as a quantile says."""
    return max(1, math.ceil(QUANTILES[measure] * count))


def quantiles_us(latencies_us: NDArray[np.int64], measures: Sequence[str] = tuple(QUANTILES)) -> list[int]:
    """Return quantiles of one or more latencies."""
    places = [rank(measure, latencies_us.size) - 1 for measure in measures]
    latencies = latencies_us.copy()
    latencies.partition(sorted(set(places)))
    return [int(latencies[place]) for place in places]

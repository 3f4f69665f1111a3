"""Makes a quantity of a device model from repeated measurements."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from htppower.tools.tuning.models.model import MEASURED, Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# With fewer samples, the range is the lowest and the highest sample.
_ENOUGH_FOR_PARTS = 20
_QUARTERS = 4
# Microwatts and picoseconds.
_DIGITS = 6


def measured(samples: Iterable[float], of: str) -> Quantity:
    """Return the median of samples, with the width of their middle half, their count, and their range.

    With 20 samples or more, the range leaves out the lowest and the highest twentieth. A negative sample, as noise may
    cause, counts as 0, since a value of a model is never negative.

    Raises:
        ValueError: ``samples`` is empty.
    """
    found = sorted(max(sample, 0.0) for sample in samples)
    if not found:
        raise ValueError("nothing was measured")
    return Quantity(
        round(statistics.median(found), _DIGITS),
        MEASURED,
        of,
        _range(found),
        round(_middle_half(found), _DIGITS),
        len(found),
    )


def _range(found: Sequence[float]) -> tuple[float, float]:
    low, high = found[0], found[-1]
    if len(found) >= _ENOUGH_FOR_PARTS:
        parts = statistics.quantiles(found, n=_ENOUGH_FOR_PARTS, method="inclusive")
        low, high = parts[0], parts[-1]
    return round(low, _DIGITS), round(high, _DIGITS)


def _middle_half(found: Sequence[float]) -> float:
    if len(found) == 1:
        return 0.0
    lower, _, upper = statistics.quantiles(found, n=_QUARTERS, method="inclusive")
    return upper - lower

"""The values of a comparison: where a difference lies, the difference of a part, and all differences."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Event
    from htppower.tools.review.compare.sample import Sample

# The share of all draws that an interval holds.
CONFIDENCE = 0.95


class Where(str, enum.Enum):
    """Where a difference lies."""

    HOST = "host"
    FASTRPC = "FastRPC"
    OUTSIDE = "HTP, outside the graph"
    WAITING = "HTP, waiting"
    CLOCK = "HTP, clock"
    WORK = "HTP, work"
    LANGUAGE = "language model"

    __str__ = str.__str__


@attrs.frozen
class Difference:
    """A time on both sides, in us, and by how much B's is longer.

    Attributes:
        name: what takes the time.
        wheres: where it is spent, from the host inwards.
        a_us, b_us: the medians; of files with averages, the averages. NaN for the work, whose time is in the clock's.
        by_us: by how much B is longer; below 0 if it is shorter.
        low_us, high_us: the interval of the difference; None if a side has too few runs.
        share: its part of the difference of the whole; 0 if the whole does not differ.
        said: what stands for the times of A and B, such as their cycles; empty if it is the times.
    """

    name: str
    wheres: tuple[Where, ...]
    a_us: float
    b_us: float
    by_us: float
    low_us: float | None = None
    high_us: float | None = None
    share: float = 0.0
    said: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether the interval shows a difference: it does not include 0."""
        return self.low_us is not None and self.high_us is not None and not self.low_us <= 0 <= self.high_us


@attrs.frozen(eq=False)
class Differences:
    """All that differs.

    Attributes:
        whole: the whole, as far as both have it.
        of_a, of_b: the events that stand for the whole.
        ratio_low, ratio_high: the interval of B's time over A's; None if a side has too few runs.
        parts: the parts of the whole.
        rest_us: what the parts do not explain, since medians do not add up.
        also: what lies within the parts, or beside them.
        samples: the runs of the whole of A and of B.
    """

    whole: Difference
    of_a: Event
    of_b: Event
    ratio_low: float | None
    ratio_high: float | None
    parts: tuple[Difference, ...]
    rest_us: float
    also: tuple[Difference, ...]
    samples: tuple[Sample, Sample]

    @property
    def ratio(self) -> float:
        """B's time over A's."""
        return self.whole.b_us / self.whole.a_us


def limits(ordered: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the interval: as many numbers are below it as above it."""
    out = round((1 - CONFIDENCE) / 2 * len(ordered))
    return ordered[out], ordered[-1 - out]

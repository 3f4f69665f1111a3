"""A side of a comparison: its columns, one number a run, and the medians that are drawn from them."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import attrs

from htppower.tools.review.advice.measurement import MISSING, Event
from htppower.tools.review.advice.numbers import Numbers, present
from htppower.tools.review.compare.sample import Sample, drawn_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Measurement


# More runs make no interval shorter that matters, and take long.
MOST_RUNS = 50_000


def thinned(measured: Measurement) -> Measurement:
    """Return a measurement of evenly spread runs if there are too many, with a note that says so."""
    step = -(-measured.count // MOST_RUNS)
    if step < 2:  # noqa: PLR2004 - every run
        return measured
    return attrs.evolve(
        measured,
        columns={event: column[::step] for event, column in measured.columns.items() if len(column) == measured.count},
        begins_us=measured.begins_us[:MOST_RUNS],
        ends_us=measured.ends_us[:MOST_RUNS],
        notes=(*measured.notes, f"One in {step} of its {measured.count:,} runs is compared."),
    )


class Side:
    """The columns of a measurement, one number a run, and the medians that were drawn from them."""

    def __init__(self, measured: Measurement, seed: str) -> None:
        self.measured = measured
        self._numbers = Numbers(measured)
        self._draw = random.Random(seed)  # noqa: S311 - no secret depends on it
        self._ranks: dict[tuple[int, bool], list[tuple[float, float]]] = {}

    def has(self, event: Event) -> bool:
        """Return whether each run may have the event; sums over all runs do not count."""
        column = self.measured.columns.get(event, ())
        return len(column) == self.measured.count and bool(present(column))

    def column(self, *events: Event) -> list[float]:
        """Return the sum of events for each run; of averages, their typical numbers."""
        if self.measured.averaged:
            return [math.fsum(self._numbers.typical(event) or 0.0 for event in events)]
        columns = [self.measured.columns[event] for event in events if self.has(event)]
        return [math.fsum(row) for row in zip(*columns, strict=True)]

    def ratio(self, event: Event, below: Event) -> list[float]:
        """Return one event over another for each run that has both."""
        rows = zip(self.column(event), self.column(below), strict=True)
        return [one / other if one > 0 and other > 0 else MISSING for one, other in rows]

    def within(self, outer: Event, inner: Event | None) -> list[float]:
        """Return the time of each run between two levels; of the innermost level, its own time."""
        if inner is None:
            return self.column(outer)
        return [one - other for one, other in zip(self.column(outer), self.column(inner), strict=True)]

    def sample(self, column: Sequence[float], *, whole: bool = False) -> Sample:
        """Return the sample of a column."""
        if self.measured.averaged:
            return Sample.of_statistics(column[0], self.measured.spread if whole else None)
        found = Sample.of_runs(column)
        return Sample.of_statistics(MISSING, None) if found is None else found

    def medians(self, sample: Sample, *, of_cycles: bool = False) -> list[float]:
        """Return medians of a sample. Those of cycles are drawn apart from those of times."""
        key = (sample.runs, of_cycles)
        if key not in self._ranks:
            self._ranks[key] = drawn_ranks(self._draw, sample.runs)
        return sample.medians(self._ranks[key])

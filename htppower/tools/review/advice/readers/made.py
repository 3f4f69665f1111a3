"""Makes measurements from the series of a file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from htppower.tools.review.advice.events import WHOLES
from htppower.tools.review.advice.measurement import Measurement
from htppower.tools.review.advice.rows import named
from htppower.tools.review.advice.statistics import median, present

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.tools.review.advice.rows import Series

# Inferences may overlap a little, because of the way they are logged.
_OVERLAP = 0.8


def measurements(source: str, form: str, series: Iterable[Series], **more: Any) -> list[Measurement]:
    """Return a measurement for each series; ``more`` are the other attributes of each measurement."""
    return [
        Measurement(
            source,
            form,
            each.columns,
            each.units,
            graph,
            tuple(each.starts),
            begins_us=_begins(each),
            **more,
        )
        for graph, each in named(list(series))
    ]


def _begins(series: Series) -> tuple[float, ...]:
    """Return when the inferences were logged, if the moments are in order and no closer than inferences last."""
    noted = list(series.noted_us)
    if len(present(noted)) < len(noted) or len(noted) < 2:  # noqa: PLR2004 - two moments make one gap
        return ()
    steps = [later - earlier for earlier, later in itertools.pairwise(noted)]
    whole = next((median(series.columns[event]) for event in WHOLES if event in series.columns), 0.0)
    return tuple(noted) if min(steps) > 0 and median(steps) >= _OVERLAP * whole else ()

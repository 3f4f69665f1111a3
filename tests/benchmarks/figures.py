"""A measured figure with its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence


@attrs.frozen
class Figure:
    """One line of the table.

    Attributes:
        what: what was measured.
        value: the figure.
        budget: the largest allowed value; None if the figure only explains another.
        unit: such as ``x`` for a ratio of two things measured in the same run.
        detail: how the value was measured.
    """

    what: str
    value: float
    budget: float | None
    unit: str
    detail: str = ""

    def line(self) -> str:
        """Return the line of the table."""
        budget = "" if self.budget is None else f"{self.budget:g} {self.unit}"
        verdict = "" if self.budget is None else ("within" if self.value <= self.budget else "OVER")
        return f"{self.what:<58} {self.value:>10.3f} {self.unit:<5} {budget:>12}  {verdict:<6}  {self.detail}".rstrip()


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of values at a share."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]

"""The table of the advice next to the vendor's profile, and of points of the front."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.words import duration
from htppower.tools.report.words import time as time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.tune import Tuned

HEAD = ("", "energy", "p50", "p99", "cold", "calls", "setting")


@attrs.frozen
class Line:
    """A line of the table: its label and the choice."""

    name: str
    choice: Choice

    def cells(self, present: Choice) -> tuple[str, ...]:
        """Return its cells, with the energy also as a share of the present energy."""
        choice, latency = self.choice, self.choice.latency
        share = f" ({choice.energy_j / present.energy_j:.0%})" if present.energy_j else ""
        return (
            self.name,
            f"{energy_text(choice.energy_j)}{share}",
            time_text(latency.p50),
            time_text(latency.p99),
            f"{100 * latency.cold:.3g} %",
            str(choice.calls),
            choice_text(choice),
        )


def lines(tuned: Tuned, most: int = 8) -> list[Line]:
    """Return the lines: the present, the advice, and points of the front from one end to the other."""
    advice = tuned.advice
    found = [Line("now", advice.present)]
    if tuned.best is not None:
        found.append(Line("advised", tuned.best))
    if advice.best is not None and advice.best != tuned.best:
        found.append(Line("alone", advice.best))
    return found + [Line("front", each) for each in spread(advice.front, most)]


def spread(front: Sequence[Choice], most: int) -> list[Choice]:
    """Return points of a front at equal steps of their place. Points that look the same are left out."""
    if not front or most < 1:
        return []
    step = max(1, (len(front) - 1) / max(1, most - 1))
    places = sorted({min(len(front) - 1, round(step * each)) for each in range(most)})
    return [front[place] for place in places]


def sustain_text(choice: Choice) -> str:
    """Return a sustain time in words."""
    sustain = choice.sustain
    if isinstance(sustain, int):
        return duration(sustain) if sustain else "0"
    if sustain.break_even_us is not None:
        return f"adaptive, B {duration(sustain.break_even_us)}"
    return f"adaptive, {(sustain.cold_starts_ppm or 0) / 10_000:g} % cold"


def choice_text(choice: Choice) -> str:
    """Return a profile and its sustain time in words."""
    return f"{choice.variant}, sustain {sustain_text(choice)}"


def energy_text(energy_j: float, digits: int = 4) -> str:
    """Return an energy in the unit that suits it."""
    for unit, size in (("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3)):
        if abs(energy_j) >= size or unit == "mJ":
            return f"{energy_j / size:.{digits}g} {unit}"
    raise AssertionError

"""The charts of a tuned session: its front, the cost of each sustain time, the lengths of its gaps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.report.chart import Chart, Scale
from htppower.tools.report.words import counted
from htppower.tools.report.words import time as time_text
from htppower.tools.review.tuning.words import energy_text, latency_text
from htppower.tools.tuning.choices import sustain_text
from htppower.tools.tuning.trial import thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.tune import Tuned

# The most points of a curve to draw.
_POINTS = 400
_LEAST_US = 20_000
_US = 1_000_000


def front_chart(tuned: Tuned, name: str) -> str:
    """Return the chart of energy over the p99 latency: all points of the front, and those that are best in both."""
    front = tuned.advice.front
    points = [(float(each.latency.p99), each.energy_j) for each in front]
    marked = _marked(tuned)
    xs = [x for x, _ in points] + [float(each.latency.p99) for each in marked.values()]
    ys = [y for _, y in points] + [each.energy_j for each in marked.values()]
    limits = [each for each in tuned.aim.limits if each.measure == "p99"]
    named = " ".join(f"{said}: {each}." for said, each in marked.items())
    chart = Chart(
        ("p99 latency", Scale.of([*xs, *(float(each.most) for each in limits)], time_text, logarithmic=True)),
        ("energy", Scale.of(ys, energy_text, logarithmic=True)),
    )
    chart.points(points, "point")
    best = list(_least_of(points))
    chart.line(best, "line", steps=True)
    chart.points(best, "best-of")
    for limit in limits:
        chart.across(float(limit.most), "limit", str(limit))
    for said, each in marked.items():
        chart.mark(float(each.latency.p99), each.energy_j, said, said, _tip(each))
    return chart.svg(name, f"{len(front)} choices by energy and p99 latency. {named}")


def cost_chart(tuned: Tuned, name: str) -> str:
    """Return the chart of energy over the sustain time, for the advised profile and the present one.

    If latency has a price, a line of its own adds the price of waiting for raises.
    """
    marked = _marked(tuned, fixed=True)
    present = tuned.advice.present
    own = tuned.best or present
    to_us = max((each.sustain for each in marked.values() if isinstance(each.sustain, int)), default=0)
    curves = {"line": _curve(tuned, own, to_us)}
    if tuned.aim.price_in_cost_w:
        curves["priced"] = _curve(tuned, own, to_us, tuned.aim.price_in_cost_w)
    if present.variant != own.variant:
        curves["other"] = _curve(tuned, present, to_us)
    points = [point for curve in curves.values() for point in curve]
    points += [(_shown(each), each.energy_j) for each in marked.values()]
    ys = [y for _, y in points]
    named = " ".join(f"{said}: {each}." for said, each in marked.items())
    times = Scale.of([_LEAST_US, *(x for x, _ in points)], _time_out_text, logarithmic=True)
    energies = Scale.of(ys, _energy_spelling(ys), logarithmic=False)
    chart = Chart(("sustain time; 0 at the left end", times), ("energy", energies))
    for kind, curve in curves.items():
        chart.line(curve, kind)
    for said, each in marked.items():
        chart.mark(_shown(each), each.energy_j, said, said, _tip(each))
    return chart.svg(name, f"Energy over the sustain time. {named}")


def cost_caption(tuned: Tuned) -> str:
    """Return the meaning of the lines of that chart."""
    own = tuned.advice.present if tuned.best is None else tuned.best
    said = f"Blue: the energy under {own.variant}."
    if tuned.aim.price_in_cost_w:
        said += " Yellow: with the price of the time that inferences wait for raises, whose least is advised."
    if own.variant != tuned.advice.present.variant:
        said += f" Dashed: the energy under {tuned.advice.present.variant}."
    return said


def gap_chart(tuned: Tuned, name: str) -> str:
    """Return the histogram of the gaps, by thirds of an octave, with the sustain times."""
    gaps = tuned.advice.session.gaps_us()
    if not gaps.size:
        return ""
    places = np.floor(3 * np.log2(np.maximum(gaps, 1))).astype(np.int64)
    first = int(places.min())
    counts = np.bincount(places - first).tolist()
    edges = [2 ** (place / 3) for place in range(first, first + len(counts) + 1)]
    marked = {said: each for said, each in _marked(tuned, fixed=True).items() if each.sustain}
    caption = f"{counted(gaps.size, 'gap')} from {time_text(int(gaps.min()))} to {time_text(int(gaps.max()))}."
    lengths = Scale.of([*edges, *(_shown(each) for each in marked.values())], time_text, logarithmic=True)
    numbers = Scale(0, max(counts) * 1.08, False, lambda value: f"{value:g}")
    chart = Chart(("length of a gap", lengths), ("gaps", numbers))
    for place, count in enumerate(counts):
        tip = f"{counted(count, 'gap')} from {time_text(edges[place])} to {time_text(edges[place + 1])}"
        chart.bar(edges[place], edges[place + 1], count, "gap-bar", tip)
    for said, each in marked.items():
        chart.across(_shown(each), said, f"{said} {sustain_text(each.sustain)}")
    return chart.svg(name, caption)


def gap_caption(tuned: Tuned) -> str:
    """Return the meaning of the bars of that chart."""
    said = "As recorded, by thirds of an octave."
    if tuned.best is not None and tuned.best.variant.profile.votes != tuned.advice.present.variant.profile.votes:
        said += f" The gaps under {tuned.best.variant} differ, since inferences take another time."
    return said


def _marked(tuned: Tuned, *, fixed: bool = False) -> dict[str, Choice]:
    """Return the marked choices by their words, which are also their classes in the style sheet.

    With ``fixed``, choices whose sustain time is learnt are left out.
    """
    found = {"now": tuned.advice.present} | ({} if tuned.best is None else {"advised": tuned.best})
    return {said: each for said, each in found.items() if not fixed or isinstance(each.sustain, int)}


def _least_of(points: Iterable[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    """Yield the points, from the left, unless another point is better in both."""
    least = float("inf")
    for x, y in sorted(points):
        if y < least:
            least = y
            yield x, y


def _energy_spelling(energies_j: list[float]) -> Callable[[float], str]:
    """Return a function that writes energies on an axis with enough digits to distinguish them."""
    least, most = min(energies_j), max(energies_j)
    digits = 4 if most <= least else max(4, math.ceil(math.log10(most / (most - least))) + 2)
    return lambda energy_j: energy_text(energy_j, digits)


def _curve(tuned: Tuned, choice: Choice, to_us: int, price_w: float = 0.0) -> list[tuple[float, float]]:
    """Return the energy of a choice's variant over the sustain time, with the price of the waits for raises.

    The time 0 is drawn left of the shortest time that a timer keeps.
    """
    offer = tuned.advice.offer(choice)
    trial = offer.trial
    # The offers of a long recording are of stretches of it.
    compared_j = offer.choice(choice.sustain).energy_j
    scale = choice.energy_j / compared_j if compared_j else 1.0
    time_outs = _drawn_us(trial.time_outs_us, to_us)
    found = trial.outcome(0).joined(trial.outcomes(time_outs))
    cost = offer.power.energy_j(found, trial.polled_us, offer.whole_us) + price_w * found.waits_us / _US
    return list(zip([_LEAST_US / 2, *time_outs.astype(float).tolist()], (scale * cost).tolist(), strict=True))


def _drawn_us(time_outs_us: NDArray[np.int64], to_us: int) -> NDArray[np.int64]:
    """Return the sustain times of a curve: the times that keep one gap more, and steps between them.

    Between those times the cost rises evenly, which is not a straight line on a logarithmic scale. The steps go on to
    the longest time that is marked.
    """
    least_us, most_us = min((_LEAST_US, *time_outs_us[:1])), max((_LEAST_US, to_us, *time_outs_us[-1:]))
    steps = np.geomspace(least_us, most_us, _POINTS).astype(np.int64)
    return np.union1d(thinned(time_outs_us, _POINTS), steps)


def _shown(choice: Choice) -> float:
    """Return the place of a sustain time on the scale."""
    return float(max(choice.sustain, _LEAST_US // 2)) if isinstance(choice.sustain, int) else 0.0


def _time_out_text(time_us: float) -> str:
    return time_text(time_us) if time_us >= _LEAST_US else "0"


def _tip(choice: Choice) -> str:
    return f"{choice}: {energy_text(choice.energy_j)}, {latency_text(choice)}"

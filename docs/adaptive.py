"""Draw the cost of each sustain time, and of the learnt time, on one set of gaps: ``docs/adaptive_sustain.svg``.

python -m docs.adaptive            write the picture
python -m docs.adaptive --check    exit 1 if the policy gives another picture
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from docs.drawing import draw_text, main, opening
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "adaptive_sustain.svg"

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 560, 60, 330
_WORTH_US = 100_000
_GAPS, _OF_BURSTS = 4000, 0.85
_SHORTEST_US, _LONGEST_US = 5_000, 1_000_000
_LARGEST = 3.5
_FIXED_US = 300_000


@attrs.frozen
class Costs:
    """Costs for a set of gaps, divided by the cost of the clairvoyant.

    Attributes:
        fixed: for each fixed sustain time, in us.
        learnt: for the learnt time.
    """

    fixed: tuple[tuple[int, float], ...]
    learnt: float


def gaps_us() -> list[int]:
    """Return gaps of bursts at 30 Hz with pauses between them, the same in each run."""
    rng = random.Random(1)  # noqa: S311 - no secret
    return [int(rng.gauss(25e3, 4e3) if rng.random() < _OF_BURSTS else rng.expovariate(1 / 2e6)) for _ in range(_GAPS)]


def costs() -> Costs:
    """Return the cost of each sustain time."""
    gaps = [max(0, gap_us) for gap_us in gaps_us()]
    least_us = sum(min(gap_us, _WORTH_US) for gap_us in gaps)
    steps = 120
    times = [round(_SHORTEST_US * (_LONGEST_US / _SHORTEST_US) ** (step / steps)) for step in range(steps + 1)]
    fixed = tuple((time_us, sum(_paid_us(gap, time_us) for gap in gaps) / least_us) for time_us in (*times, _FIXED_US))
    learner, learnt_us = make_learner(Adaptive(break_even_us=_WORTH_US)), 0
    for gap_us in gaps:
        learnt_us += _paid_us(gap_us, learner.time_out_us)
        learner.learn(gap_us)
    return Costs(tuple(sorted(set(fixed))), learnt_us / least_us)


def _paid_us(gap_us: int, time_out_us: int) -> int:
    return gap_us if gap_us < time_out_us else time_out_us + _WORTH_US


def picture() -> str:
    """Return the SVG."""
    done = costs()
    best_us, best = min(done.fixed, key=lambda pair: pair[1])
    vendors = dict(done.fixed)[_FIXED_US]
    said = (
        f"If the clairvoyant pays 1, the learnt time pays {done.learnt:.2f}, the best fixed time, "
        f"{best_us / 1000:.0f} ms, pays {best:.2f}, and 300 ms pays {vendors:.2f}."
    )
    head = opening("adaptive", _WIDTH, _HEIGHT, "The cost of each sustain time on bursts with pauses", said)
    return "\n".join((*head, *_axes(), *_curve(done), *_marks(done, vendors), "</svg>", ""))


def _x(time_us: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * math.log(time_us / _SHORTEST_US) / math.log(_LONGEST_US / _SHORTEST_US)


def _y(cost: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * (min(cost, _LARGEST) - 0.8) / (_LARGEST - 0.8)


def _axes() -> Iterator[str]:
    yield draw_text(_LEFT - 60, 28, "cost of the gaps, relative to the clairvoyant", "label")
    yield f'<path class="axis" d="M{_LEFT},{_TOP - 12}V{_BOTTOM}"/><path class="axis" d="M{_LEFT},{_BOTTOM}H{_RIGHT}"/>'
    for cost in (1.0, 1.5, 2.0, 2.5, 3.0, 3.5):
        yield f'<path class="guide" d="M{_LEFT},{_y(cost):.1f}H{_RIGHT}"/>'
        yield draw_text(_LEFT - 10, _y(cost) + 4, f"{cost:g}", anchor="end")
    for ms in (5, 10, 20, 50, 100, 200, 500, 1000):
        yield f'<path class="axis" d="M{_x(ms * 1000):.1f},{_BOTTOM}v5"/>'
        yield draw_text(_x(ms * 1000), _BOTTOM + 22, f"{ms}", anchor="middle")
    yield draw_text(
        (_LEFT + _RIGHT) / 2, _BOTTOM + 46, "sustain time in ms; the break-even time is 100", anchor="middle"
    )


def _curve(done: Costs) -> Iterator[str]:
    points = " ".join(f"{_x(time_us):.1f},{_y(cost):.1f}" for time_us, cost in done.fixed if cost <= _LARGEST)
    yield f'<g class="raise"><polyline class="level" points="{points}"/></g>'


def _marks(done: Costs, vendors: float) -> Iterator[str]:
    yield f'<g class="lower"><path class="level" d="M{_LEFT},{_y(done.learnt):.1f}H{_RIGHT}"/></g>'
    yield draw_text(_RIGHT + 8, _y(done.learnt) - 3, f"learnt: {done.learnt:.2f}", "label")
    yield draw_text(_RIGHT + 8, _y(1) + 14, "clairvoyant: 1")
    x, y = _x(_FIXED_US), _y(vendors)
    yield f'<g class="raise"><circle class="head" cx="{x:.1f}" cy="{y:.1f}" r="5"/></g>'
    yield draw_text(x - 8, y - 10, f"300 ms: {vendors:.2f}", "label", "end")
    last_us, last = done.fixed[-1]
    if last <= _LARGEST:
        yield draw_text(_x(last_us) + 8, _y(last) + 4, "a fixed time", "label")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))

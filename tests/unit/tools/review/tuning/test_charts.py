"""The charts of a tuned session."""

from __future__ import annotations

import re

import numpy as np
import pytest

from htppower.tools.review.tuning.charts import cost_chart, gap_chart
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.tune import Question, Tuned, tune

_NUMBER = r"(-?[\d.]+)"


def test_what_is_marked_lies_on_the_curve() -> None:
    """Far from every gap too: there the energy is linear in the sustain time, so the curve bends on its scale."""
    gaps = np.array([30_000] * 20 + [9_000_000]).repeat(3)
    begins = np.concatenate(([0], np.cumsum(gaps + 5_000)))
    trace = Trace("t", "csv", (SessionTrace("camera", "burst", begins, begins + 5_000, None),), ())
    (tuned,) = tune(trace, load_device_model(), Question(profiles=("burst",))).sessions
    assert tuned.advice.present.sustain == 300_000
    svg = cost_chart(tuned, "cost")
    mark = re.search(rf'<circle class="now" cx="{_NUMBER}" cy="{_NUMBER}"', svg)
    line = re.search(r'<path class="other" d="([^"]+)"', svg)
    assert mark is not None
    assert line is not None
    x, y = (float(each) for each in mark.groups())
    curve = [(float(a), float(b)) for a, b in re.findall(rf"[ML]{_NUMBER}[, ]{_NUMBER}", line[1])]
    at, height = zip(*curve, strict=True)
    assert float(np.interp(x, at, height)) == pytest.approx(y, abs=2)


def _tuned(gaps_us: list[int]) -> Tuned:
    """Return the result for inferences of 5 ms under burst with these gaps."""
    begins = np.concatenate(([0], np.cumsum(np.array(gaps_us, np.int64) + 5_000)))
    trace = Trace("t", "csv", (SessionTrace("camera", "burst", begins, begins + 5_000, None),), ())
    (tuned,) = tune(trace, load_device_model(), Question(profiles=("burst",))).sessions
    return tuned


@pytest.mark.parametrize("gaps", [[31_000] * 200, [5_000]])
def test_the_curve_goes_to_the_longest_time_that_is_marked(gaps: list[int]) -> None:
    """The curve reaches the longest marked time, even beyond the longest gap."""
    svg = cost_chart(_tuned(gaps), "cost")
    mark = re.search(rf'<circle class="now" cx="{_NUMBER}" cy="{_NUMBER}"', svg)
    line = re.search(r'<path class="line" d="([^"]+)"', svg)
    assert mark is not None
    assert line is not None
    at = [float(x) for x, _ in re.findall(rf"[ML]{_NUMBER}[, ]{_NUMBER}", line[1])]
    assert max(at) == pytest.approx(float(mark[1]), abs=1)


def test_energies_that_hardly_differ_are_told_apart_on_their_axis() -> None:
    """In days of trace the inferences are a negligible part."""
    svg = cost_chart(_tuned([86_400_000_000 * 20, 50_000, 5_000] * 4), "cost")
    ticks = re.findall(r'text-anchor="end">([\d.]+ kJ)<', svg)
    assert len(ticks) > 2
    assert len(set(ticks)) == len(ticks)


@pytest.mark.parametrize(
    ("time_us", "said"), [(999_600, "1 s"), (999, "999 us"), (7_860, "7.86 ms"), (20_000_000_000, "5.56 h")]
)
def test_a_time_is_told_without_an_exponent(time_us: int, said: str) -> None:
    """The time is rounded, in a suitable unit."""
    gaps = np.array([time_us, time_us])
    trace = Trace(
        "t", "csv", (SessionTrace("camera", "burst", np.cumsum([0, *gaps]), np.cumsum([0, *gaps]), None),), ()
    )
    (tuned,) = tune(trace, load_device_model(), Question(profiles=("burst",))).sessions
    assert f"2 gaps from {said} to {said}." in gap_chart(tuned, "gaps")


def test_one_gap_is_told_in_the_singular() -> None:
    """The text above the bars, and the text of each bar, use the singular for one gap."""
    svg = gap_chart(_tuned([31_000]), "gaps")
    assert "1 gap from 31 ms to 31 ms." in svg
    assert "1 gaps" not in svg

"""Charts: scales with round labels, and words that do not touch."""

from __future__ import annotations

import itertools
import re

import pytest

from htppower.tools.report.chart import Chart, Scale

_NUMBER = r"(-?[\d.]+)"


@pytest.mark.parametrize("logarithmic", [True, False])
def test_ticks_lie_on_the_scale(logarithmic: bool) -> None:
    """For any values, the ticks are within the scale."""
    scale = Scale.of([3, 4_700], str, logarithmic=logarithmic)
    assert scale.ticks()
    assert all(0 <= scale.place(each) <= 1 for each in scale.ticks())


def test_words_at_the_top_do_not_touch() -> None:
    """For any two lines, the words are below each other, or apart."""
    scale = Scale.of([20_000, 500_000], str, logarithmic=True)
    words = ("advised 74.596 ms", "now 300 ms")
    text = re.compile(rf'<text [^>]*x="{_NUMBER}" y="{_NUMBER}" text-anchor="(\w+)">({"|".join(words)})<')
    for first, second in itertools.product(range(30_000, 500_000, 20_000), repeat=2):
        chart = Chart(("length", scale), ("gaps", Scale(0, 10, False, str)))
        chart.across(first, "advised", words[0])
        chart.across(second, "now", words[1])
        places: list[tuple[float, float, float]] = []
        for x, y, anchor, said in text.findall(chart.svg("chart", "")):
            # A letter of 11 px is about 6 px wide.
            left = float(x) - 6 * len(said) * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            places.append((left, left + 6 * len(said), float(y)))
        (begin, end, y), (other_begin, other_end, other_y) = places
        assert abs(y - other_y) >= 12 or end <= other_begin or other_end <= begin


def test_words_beside_points_do_not_touch() -> None:
    """If two points are in one place, the words are below each other."""
    scale = Scale.of([2_000, 9_000], str, logarithmic=True)
    for x in (2_000, 8_900):
        chart = Chart(("p99", scale), ("energy", Scale(0, 10, False, str)))
        chart.mark(x, 5.0, "now", "now", "")
        chart.mark(x, 5.1, "advised", "advised", "")
        now, advised = (float(y) for y in re.findall(r'<text class="said-[^>]*y="([\d.]+)"', chart.svg("chart", "")))
        assert abs(now - advised) >= 12

"""The measured clock in the forms of a trace: a lane under the voted corner, a table and JSON."""

from __future__ import annotations

import json
import re

import attrs
import numpy as np
import pytest

from htppower.tools.review.tuning.trace_forms import FORMS, render
from htppower.tools.tuning.traces.clocks import ClockPoint, ClockTrace
from htppower.tools.tuning.traces.describe import describe
from htppower.tools.tuning.traces.trace import SessionTrace, Trace

BEGIN_US = 5_000_000
BEGINS = BEGIN_US + np.arange(10) * 1_000_000
TRACE = Trace("t", "htppower", (SessionTrace("camera", None, BEGINS, BEGINS + 1000, None),), ())
POINTS = tuple(
    ClockPoint(BEGIN_US + second * 1_000_000, khz, voted)
    for second, khz, voted in ((-1, 9e9, "TURBO"), (0, 300_000, "SVS"), (4, 300_000, "SVS"), (6, 1_401_000, "NOM"))
)
WITH_CLOCK = attrs.evolve(TRACE, clocks=(ClockTrace("dsp", POINTS),))


def shown(trace: Trace, form: str) -> str:
    """Return a trace in one form."""
    return render(trace, describe(trace), form)


def test_the_lane_is_under_the_corners_on_the_scale_of_the_sessions() -> None:
    """A corner lasts until the next; the clock steps with the readings; readings outside are not drawn."""
    picture = shown(WITH_CLOCK, "svg")
    corners = re.findall(r'y="([\d.]+)"[^>]*><title>core clock voted: (\w+)', picture)
    assert [name for _, name in corners] == ["SVS", "NOM"]
    (line,) = re.findall(r'class="line" d="([^"]+)"', picture)
    points = [tuple(map(float, each.split(","))) for each in re.findall(r"[ML]([\d.]+,[\d.]+)", line)]
    (first_x, low_y), (last_x, high_y) = points[0], points[-1]
    # From the left end to 6 of 9 seconds, below the corners, and higher at the higher clock.
    assert (first_x, round((last_x - first_x) / 884, 2)) == (92, 0.67)
    assert float(corners[0][0]) < high_y < low_y
    heights = [float(each) for each in re.findall(r'<svg[^>]* viewBox="0 0 [\d.]+ ([\d.]+)"', picture)]
    assert heights[0] > low_y


def test_the_table_and_json_have_the_spread_by_corner() -> None:
    """Each voted corner has its readings with median, lowest and highest clock."""
    text = shown(WITH_CLOCK, "text")
    assert "clock measured by dsp, 4 readings" in text
    assert re.search(r"SVS +2 +300 MHz +300 MHz +300 MHz", text)
    (clock,) = json.loads(shown(WITH_CLOCK, "json"))["clocks"]
    assert (clock["source"], [each["voted"] for each in clock["by_corner"]]) == ("dsp", ["SVS", "NOM", "TURBO"])
    assert clock["by_corner"][0] == {
        "voted": "SVS",
        "readings": 2,
        "least_khz": 300_000,
        "median_khz": 300_000,
        "most_khz": 300_000,
    }


@pytest.mark.parametrize("form", FORMS)
def test_without_readings_nothing_is_shown(form: str) -> None:
    """A trace without readings mentions none; readings outside the sessions leave the picture as it is."""
    assert "measured" not in shown(TRACE, form)
    assert "clocks" not in shown(TRACE, form)
    outside = attrs.evolve(TRACE, clocks=(ClockTrace("dsp", POINTS[:1]),))
    assert shown(outside, "svg") == shown(TRACE, "svg")

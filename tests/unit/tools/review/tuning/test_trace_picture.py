"""The picture of a trace."""

from __future__ import annotations

import re

import numpy as np

from htppower.tools.review.tuning.trace_picture import as_svg
from htppower.tools.tuning.traces.describe import describe
from htppower.tools.tuning.traces.trace import SessionTrace, Trace


def test_lengths_of_gaps_have_marks_that_people_read() -> None:
    """Marks go from a microsecond to days: decades below a minute; minutes, hours and days above."""
    begins = np.cumsum([10**exponent for exponent in range(13)])
    trace = Trace("t", "csv", (SessionTrace("camera", None, begins, begins, None),), ())
    marks = re.findall(r'<text class="time"[^>]*>([^<]+)<', as_svg(trace, describe(trace)))
    lengths = marks[marks.index("10 us") :]
    assert lengths[:7] == ["10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    assert lengths[7:] == ["1 min", "10 min", "1 h", "10 h", "10 days"]
    assert marks[:3] == ["0 days", "1 day", "2 days"]

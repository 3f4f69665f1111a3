"""The results of tuning in sentences."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.tools.review.tuning.words import advice_line, together_line
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.tune import Question, tune


@pytest.mark.parametrize(
    ("gaps_us", "said"),
    [
        ([31_000, 800_000] * 200, "63% less than burst as it is"),
        ([86_400_000_000] * 20, "0.005% less than burst as it is"),
    ],
)
def test_what_is_saved_is_never_told_as_nothing(gaps_us: list[int], said: str) -> None:
    """A small share has as many digits as it needs."""
    begins = np.concatenate(([0], np.cumsum(np.array(gaps_us) + 2_000)))
    trace = Trace("t", "csv", (SessionTrace("camera", "burst", begins, begins + 2_000, None),), ())
    tuning = tune(trace, load_device_model(), Question())
    assert said in advice_line(tuning, tuning.sessions[0])


@pytest.mark.parametrize(("count", "said"), [(2, "over 3 x 3 choices ("), (9, "over 3 choices of each (")])
def test_the_choices_of_many_sessions_are_told_in_short(count: int, said: str) -> None:
    """One number for each session would make the line too long to be useful."""
    begins = np.arange(5) * 5_000
    sessions = tuple(SessionTrace(f"s{place}", "burst", begins, begins + 50, None) for place in range(count))
    tuning = tune(Trace("t", "csv", sessions, ()), load_device_model(), Question(profiles=("burst", "balanced")))
    line = together_line(tuning)
    assert line is not None
    assert said in line

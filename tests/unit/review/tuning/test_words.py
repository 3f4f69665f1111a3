"""What is found by tuning, in sentences."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.review.tuning.words import advice_line
from htppower.tuning.models.file import load_device_model
from htppower.tuning.traces.trace import SessionTrace, Trace
from htppower.tuning.tune import Question, tune


@pytest.mark.parametrize(
    ("gaps_us", "said"),
    [
        ([31_000] * 200, "3% less than burst as it is"),
        ([86_400_000_000] * 20, "0.01% less than burst as it is"),
    ],
)
def test_what_is_saved_is_never_told_as_nothing(gaps_us: list[int], said: str) -> None:
    """A small share has the digits that it takes."""
    begins = np.concatenate(([0], np.cumsum(np.array(gaps_us) + 2_000)))
    trace = Trace("t", "csv", (SessionTrace("camera", "burst", begins, begins + 2_000, None),), ())
    tuning = tune(trace, load_device_model(), Question())
    assert said in advice_line(tuning, tuning.sessions[0])

"""Counts and sums for many time-outs."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.tools.tuning.cost.sums import Beyond, Keys


@pytest.mark.parametrize("longest_us", [50, 5_000], ids=["repeated keys", "different keys"])
def test_sums_are_those_of_the_items_that_are_beyond(longest_us: int) -> None:
    """Counts and sums are those of the items with a key of at least the time-out, for any time-out."""
    draw = np.random.default_rng(1)
    keys, values = draw.integers(0, longest_us, 400), draw.integers(-1_000, 1_000, 400)
    beyond = Beyond(Keys(keys), {"value": values})
    time_outs = np.arange(2 * longest_us)
    assert beyond.count(time_outs).tolist() == [int((keys >= each).sum()) for each in time_outs]
    assert beyond.sum("value", time_outs).tolist() == [int(values[keys >= each].sum()) for each in time_outs]


def test_no_items_are_beyond_any_time_out() -> None:
    """Without items, each count is 0."""
    assert Beyond(Keys(np.zeros(0, np.int64)), {}).count(np.array([0, 5])).tolist() == [0, 0]

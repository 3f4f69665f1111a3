"""The front of choices, which no other choice beats in everything."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.tools.tuning.choices import pareto_front


@pytest.mark.parametrize("seed", range(20))
def test_nothing_on_the_front_is_beaten_and_all_else_is(seed: int) -> None:
    """A row is on it exactly if no other row is at most equal in all columns and less in one; equal rows count once."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 7, (int(draw.integers(1, 900)), int(draw.integers(1, 5)))).astype(float)
    found = pareto_front(rows)
    unbeaten = [row for row in rows if not ((rows <= row).all(axis=1) & (rows < row).any(axis=1)).any()]
    assert sorted(map(tuple, rows[found].tolist())) == sorted({tuple(row.tolist()) for row in unbeaten})
    assert rows[found][:, 0].tolist() == sorted(rows[found][:, 0])


def test_the_front_of_nothing_is_empty() -> None:
    """The front is empty."""
    assert pareto_front(np.zeros((0, 3))).size == 0

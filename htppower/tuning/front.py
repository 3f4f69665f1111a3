"""The Pareto front: what nothing else is better than, or as good as in all and better in something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of so many rows at once it is looked what is better than each.
_TOGETHER = 256


def pareto_front(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the rows on the front, sorted by their first column; of equal rows the first.

    A row is on it if no other is less or equal in every column and less in one.

    Args:
        costs: a row for each choice, a column for each thing of which less is better.
    """
    if not costs.size:
        return np.zeros(0, np.int64)
    order = np.lexsort(costs.T[::-1])
    rows = costs[order]
    # What is better in all, or equal, comes no later in this order.
    kept = np.zeros(0, np.int64)
    for start in range(0, order.size, _TOGETHER):
        part = np.arange(start, min(start + _TOGETHER, order.size))
        part = part[~_beaten(rows[part], rows[kept])]
        earlier = np.tril(_no_worse(rows[part], rows[part]), k=-1).any(axis=1)
        kept = np.concatenate((kept, part[~earlier]))
    found: NDArray[np.int64] = order[kept]
    return found


def _beaten(rows: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows another row is as good as or better than, in every column."""
    beaten = np.zeros(rows.shape[0], np.bool_)
    for start in range(0, by.shape[0], _TOGETHER * 8):
        others = by[start : start + _TOGETHER * 8]
        left = np.flatnonzero(~beaten)
        beaten[left] = _no_worse(rows[left], others).any(axis=1)
    return beaten


def _no_worse(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return of each row which others are no worse in any column."""
    no_worse = np.ones((rows.shape[0], others.shape[0]), np.bool_)
    for column in range(rows.shape[1]):
        no_worse &= others[None, :, column] <= rows[:, None, column]
    return no_worse

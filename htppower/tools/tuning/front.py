"""The Pareto front: the choices that no other choice beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How many rows are compared at once.
_TOGETHER = 256


def pareto_front(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the rows on the front, sorted by their first column. Only the first of equal rows is kept.

    A row is on the front if no other row is less or equal in every column and less in at least one.

    Args:
        costs: a row for each choice, and a column for each cost.
    """
    if not costs.size:
        return np.zeros(0, np.int64)
    order = np.lexsort(costs.T[::-1])
    rows = costs[order]
    # In this order, a row that beats or equals another precedes it.
    kept = np.zeros(0, np.int64)
    for start in range(0, order.size, _TOGETHER):
        part = np.arange(start, min(start + _TOGETHER, order.size))
        part = part[~_beaten(rows[part], rows[kept])]
        earlier = np.tril(_no_worse(rows[part], rows[part]), k=-1).any(axis=1)
        kept = np.concatenate((kept, part[~earlier]))
    found: NDArray[np.int64] = order[kept]
    return found


def _beaten(rows: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are beaten or equalled, in every column, by one of the other rows."""
    beaten = np.zeros(rows.shape[0], np.bool_)
    for start in range(0, by.shape[0], _TOGETHER * 8):
        others = by[start : start + _TOGETHER * 8]
        left = np.flatnonzero(~beaten)
        beaten[left] = _no_worse(rows[left], others).any(axis=1)
    return beaten


def _no_worse(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return, for each row, which other rows are less or equal in every column."""
    no_worse = np.ones((rows.shape[0], others.shape[0]), np.bool_)
    for column in range(rows.shape[1]):
        no_worse &= others[None, :, column] <= rows[:, None, column]
    return no_worse

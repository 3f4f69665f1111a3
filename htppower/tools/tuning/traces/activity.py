"""How busy a session is over time, for a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.traces.trace import SessionTrace


def busy_shares(session: SessionTrace, begin_us: int, end_us: int, columns: int) -> NDArray[np.float64]:
    """Return the share of time that the session is busy, 0 to 1, for each of several equal columns of time."""
    begins_us, ends_us = session.busy_us()
    busy_us = np.cumsum(ends_us - begins_us)
    moments = np.column_stack((begins_us, ends_us)).ravel().astype(np.float64)
    busy_until_us = np.column_stack((busy_us - (ends_us - begins_us), busy_us)).ravel().astype(np.float64)
    edges = np.linspace(begin_us, end_us, columns + 1)
    width_us = (end_us - begin_us) / columns or 1.0
    return np.clip(np.diff(np.interp(edges, moments, busy_until_us)) / width_us, 0.0, 1.0)


def begun(session: SessionTrace, begin_us: int, end_us: int, columns: int) -> NDArray[np.int64]:
    """Return how many inferences begin in each of several equal columns of time."""
    edges = np.linspace(begin_us, max(end_us, begin_us + 1), columns + 1)
    return np.histogram(session.begins_us, edges)[0].astype(np.int64)


def burst_spans(session: SessionTrace, below_us: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begins and ends of bursts, which are separated by gaps of ``below_us`` or more."""
    begins_us, ends_us = session.busy_us()
    parted = np.flatnonzero(begins_us[1:] - ends_us[:-1] >= below_us)
    return begins_us[np.concatenate(([0], parted + 1))], ends_us[np.concatenate((parted, [ends_us.size - 1]))]

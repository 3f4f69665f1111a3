"""Patterns of inferences: bursts, a period, and how busy a session is over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.traces.trace import SessionTrace


# An interval is regular if it differs from the median by at most this share of the median.
REGULAR_SHARE = 0.05
# A period needs this share of regular intervals, and this many intervals.
_PERIODIC = 0.5
FEWEST_INTERVALS = 8
_FEWEST_OF_A_BURST = 2
# Gaps are counted in windows of four half octaves, so that a few gaps do not make valleys. A valley must be at most
# about half as high as the lower of its hills. Three are added to each count, so that a hill needs at least three gaps.
# Exponential, Pareto and log-normal gaps, which have one hill, are mistaken for bursts in 1 % of the cases (measured
# with 300 draws of 10 to 3000 gaps each).
_BINS_AN_OCTAVE = 2
_WINDOW_BINS = 4
_IN_EVERY_WINDOW = 3.0
_DEEP = 1.0
# Shorter gaps count as this length: below it, some half octaves hold no whole number of us, and look like valleys.
_SHORTEST_US = 32


@attrs.frozen
class Bursts:
    """Inferences that come in bursts: gaps are either short or long, with few between.

    Attributes:
        below_us: gaps below this are within a burst. It is the middle of the largest valley between two hills of gaps,
            counted by the logarithm of their lengths.
        share: the share of the gaps that are within a burst, 0 to 1.
        count: how many bursts there are.
        inferences: the median number of inferences in a burst.
        pause_us: the median time between two bursts.
    """

    below_us: int
    share: float
    count: int
    inferences: int
    pause_us: int


@attrs.frozen
class Period:
    """Inferences that begin at regular intervals.

    Attributes:
        interval_us: the mean of the regular intervals from begin to begin, which are within 5 % of the median.
        share: the share of the intervals that are regular, 0 to 1.
        jitter_us: the standard deviation of the regular intervals.
    """

    interval_us: float
    share: float
    jitter_us: float

    @property
    def hz(self) -> float:
        """How many inferences begin in a second."""
        return 1_000_000 / self.interval_us


def find_period(intervals_us: NDArray[np.int64]) -> tuple[float, Period | None]:
    """Return the share of regular intervals, and the period; None if there is not any."""
    if not intervals_us.size:
        return 0.0, None
    median_us = float(np.median(intervals_us))
    regular = intervals_us[np.abs(intervals_us - median_us) <= REGULAR_SHARE * median_us]
    share = float(regular.size / intervals_us.size)
    if intervals_us.size < FEWEST_INTERVALS or share < _PERIODIC or not median_us:
        return share, None
    return share, Period(float(regular.mean()), share, float(regular.std()))


def find_bursts(
    begins_us: NDArray[np.int64], busy_begins_us: NDArray[np.int64], gaps_us: NDArray[np.int64]
) -> Bursts | None:
    """Return the bursts of a session; None if its gaps are not clearly short or long.

    Args:
        begins_us: when each inference began.
        busy_begins_us: when the session became busy.
        gaps_us: the idle time before each of these begins except the first.
    """
    below_us = valley_us(gaps_us)
    if below_us is None:
        return None
    long = gaps_us >= below_us
    starts_us = np.concatenate((busy_begins_us[:1], busy_begins_us[1:][long]))
    sizes = np.diff(np.append(np.searchsorted(begins_us, starts_us), begins_us.size))
    middle = np.quantile(sizes, 0.5, method="inverted_cdf")
    if middle < _FEWEST_OF_A_BURST:
        return None
    pause_us = np.quantile(gaps_us[long], 0.5, method="inverted_cdf")
    return Bursts(below_us, float(1 - long.mean()), int(starts_us.size), int(middle), int(pause_us))


def valley_us(gaps_us: NDArray[np.int64]) -> int | None:
    """Return the length that separates short gaps from long ones; None if the gaps are not clearly short or long.

    The gaps are counted by the logarithm of their lengths, and heights are logarithms of the counts. Each valley is
    filled with water up to the lower of the hills on its two sides. The valley that holds the most water is chosen.
    """
    if gaps_us.size < FEWEST_INTERVALS:
        return None
    places = np.floor(np.log2(np.maximum(gaps_us, _SHORTEST_US)) * _BINS_AN_OCTAVE).astype(np.int64)
    first = int(places.min())
    counts = np.convolve(np.bincount(places - first), np.ones(_WINDOW_BINS))
    heights = np.log2(_IN_EVERY_WINDOW + counts)
    sides = np.minimum(np.maximum.accumulate(heights), np.maximum.accumulate(heights[::-1])[::-1])
    water = sides - heights
    best: tuple[float, int, int] | None = None
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (water > 0).astype(np.int8), [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        deepest = float(water[begin:end].max())
        if deepest >= _DEEP and (best is None or float(water[begin:end].sum()) > best[0]):
            best = (float(water[begin:end].sum()), begin, end)
    if best is None:
        return None
    _, begin, end = best
    lowest = np.flatnonzero(heights[begin:end] == heights[begin:end].min()) + begin
    # The place of a window is the place of its last bin.
    middle = first + (float(lowest[0]) + float(lowest[-1]) + 2 - _WINDOW_BINS) / 2
    return round(2 ** (middle / _BINS_AN_OCTAVE))


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

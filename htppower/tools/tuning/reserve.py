"""Whether a session keeps to its limits with a reserve: also if the next recording differs slightly."""

from __future__ import annotations

import enum
import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.tuning.limits import COLD, MEAN, QUANTILES
from htppower.tools.tuning.traces.trace import with_longer_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.cost.outcome import Run
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.trial import Trial

# Limits must still hold if all inferences, or all gaps, take this many times as long.
SPEEDS = (1 / 1.03, 1.03)
LONGER_GAPS = 1.1
# The spread of a measure between recordings is estimated from its spread between the parts of this recording.
_PARTS = 8
_FEWEST_PARTS = 4
_SMALLEST_PART = 25
_SPREADS = 2
# The next recording is taken to be as long as the whole of this one: 1.5 times the part that is tuned on.
_NEXT = 1.5


class Strictness(enum.IntEnum):
    """How strictly limits are kept to; each level includes the levels below it."""

    KEPT = 0
    SPREAD = 1
    CHANGED = 2


class Reserve:
    """Decides whether sustain times of a trial keep to limits.

    Args:
        trial: the session under a profile.
        limits: the limits.
    """

    def __init__(self, trial: Trial, limits: Sequence[Limit]) -> None:
        self._trial = trial
        self._limits = limits

    def keeps(self, sustain: Sustain, strictness: Strictness) -> bool:
        """Return whether a sustain time keeps to the limits as strictly as ``strictness``."""
        if not self._limits:
            return True
        return (
            kept(self._trial, sustain, self._limits)
            and (strictness < Strictness.SPREAD or self._keeps_in_parts(sustain))
            and (strictness < Strictness.CHANGED or all(kept(each, sustain, self._limits) for each in self._changed))
        )

    @functools.cached_property
    def _changed(self) -> list[Trial]:
        """The session with other speeds, and with longer gaps."""
        trial = self._trial
        return [*map(trial.slower, SPEEDS), trial.of(with_longer_gaps(trial.session, LONGER_GAPS))]

    def _keeps_in_parts(self, sustain: Sustain) -> bool:
        """Return whether limits hold with a reserve of twice the spread between parts of the recording."""
        parts = min(_PARTS, self._trial.count // _SMALLEST_PART)
        if parts < _FEWEST_PARTS:
            return True
        run = self._trial.run(sustain)
        return all(_highest(self._values(limit, run), parts) <= _bound(limit) for limit in self._limits)

    def _values(self, limit: Limit, run: Run) -> NDArray[np.int64]:
        """Return a number for each inference; the limit bounds their mean."""
        if limit.measure == COLD:
            return np.bincount(run.cold, minlength=self._trial.count)
        latencies_us = run.ends_us - self._trial.workload.asked_us
        return latencies_us if limit.measure == MEAN else (latencies_us > int(limit.most)).astype(np.int64)


def kept(trial: Trial, sustain: Sustain, limits: Sequence[Limit]) -> bool:
    """Return whether a session keeps to limits with a sustain time."""
    return all(limit.holds(trial.latency(sustain).of(limit.measure)) for limit in limits)


def _bound(limit: Limit) -> float:
    """Return the most that the mean of the values of all inferences may be."""
    return float(1 - QUANTILES[limit.measure] if limit.measure in QUANTILES else limit.most)


def _highest(values: NDArray[np.int64], parts: int) -> float:
    """Return a value that the mean of another recording is not likely to exceed."""
    starts = np.arange(parts) * values.size // parts
    means = np.add.reduceat(values, starts) / np.diff(starts, append=values.size)
    spread = float(means.std(ddof=1)) * math.sqrt((1 + 1 / _NEXT) / parts)
    return float(values.mean()) + _SPREADS * spread

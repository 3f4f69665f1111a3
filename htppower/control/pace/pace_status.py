"""The status of a pace: a value that the status of a controller also has, without the parts of a pace."""

from __future__ import annotations

import attrs


@attrs.frozen
class PaceStatus:
    """A pace of a session.

    Attributes:
        per_s: the rate that it keeps, in inferences per second.
        miss_rate: the share of the deadlines that may be missed.
        profile: the name of the profile that it has chosen. A hold or a cap may replace it.
        keeps: whether that profile keeps the rate; False if even the highest profile of the pace, up to a cap,
            misses too many.
        inferences: how many inferences have ended.
        misses: how many of them have missed their deadline.
        recent_per_s: the rate of the last 100 inferences, per second; None before the second one.
        recent_misses: how many of the last 100 inferences have missed their deadline.
        changes: how often it has chosen another profile.
    """

    per_s: float
    miss_rate: float
    profile: str
    keeps: bool
    inferences: int
    misses: int
    recent_per_s: float | None
    recent_misses: int
    changes: int

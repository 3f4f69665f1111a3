"""When the inferences of each session began and ended, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from numpy.typing import NDArray


@attrs.frozen(eq=False)
class SessionTrace:
    """The inferences of one session, in the order in which they began.

    Attributes:
        name: the session's owner, its number, its model: whatever the trace says.
        profile: the profile that it used, where the trace says that.
        begins_us: when each inference began, in us from any beginning; sorted.
        ends_us: when each ended, no earlier than it began.
        cold: whether each waited for a raise, where the trace says that.
    """

    name: str
    profile: str | None
    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]
    cold: NDArray[np.bool] | None = None

    __repr__ = field_repr

    def busy_us(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when the session became busy, and when it became idle again: overlapping inferences are one.

        An inference that begins in the microsecond in which the last one ended begins after a gap of 0.
        """
        if not self.begins_us.size:
            return self.begins_us, self.ends_us
        latest_us = np.maximum.accumulate(self.ends_us)
        idle_before = np.flatnonzero(self.begins_us[1:] >= latest_us[:-1])
        first = np.concatenate(([0], idle_before + 1))
        last = np.concatenate((idle_before, [self.ends_us.size - 1]))
        return self.begins_us[first], latest_us[last]

    def gaps_us(self) -> NDArray[np.int64]:
        """Return how long the session was idle between its busy times, in us."""
        begins_us, ends_us = self.busy_us()
        return begins_us[1:] - ends_us[:-1]


@attrs.frozen(eq=False)
class Trace:
    """What a trace file says.

    Attributes:
        source: the file, for messages.
        format: ``htppower``, ``loadgen``, ``onnxruntime``, ``chrome`` or ``csv``.
        sessions: the inferences, by session.
        notes: what was left out, and why.
    """

    source: str
    format: str
    sessions: tuple[SessionTrace, ...]
    notes: tuple[str, ...] = ()

    __repr__ = field_repr

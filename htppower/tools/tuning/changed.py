"""Changed recordings: the parts that advice is tuned and checked on, and recordings with longer gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.trace import SessionTrace

# A recording with fewer gaps is too short to be cut.
FEWEST_GAPS = 200


def tuned_and_rest(session: SessionTrace) -> tuple[SessionTrace, SessionTrace | None]:
    """Return the first two thirds of a recording and the rest; the whole recording and None if it is too short.

    The first part has two thirds of the gaps. The cut lies in a gap, so no inference is cut.
    """
    begins_us, _ = session.busy_us()
    if begins_us.size - 1 < FEWEST_GAPS:
        return session, None
    cut = int(np.searchsorted(session.begins_us, begins_us[2 * begins_us.size // 3]))
    return _part(session, slice(cut)), _part(session, slice(cut, None))


def begin_of(session: SessionTrace, most: int) -> SessionTrace:
    """Return the first inferences of a session, at most ``most``."""
    return _part(session, slice(most))


def with_longer_gaps(session: SessionTrace, factor: float) -> SessionTrace:
    """Return a session with each gap ``factor`` times as long. The inferences between two gaps keep their length."""
    begins_us, _ = session.busy_us()
    moved_us = np.concatenate(([0], np.cumsum(np.rint(session.gaps_us() * (factor - 1)).astype(np.int64))))
    of_each = moved_us[np.searchsorted(begins_us, session.begins_us, side="right") - 1]
    return attrs.evolve(session, begins_us=session.begins_us + of_each, ends_us=session.ends_us + of_each)


def _part(session: SessionTrace, part: slice) -> SessionTrace:
    return attrs.evolve(
        session,
        begins_us=session.begins_us[part],
        ends_us=session.ends_us[part],
        cold=None if session.cold is None else session.cold[part],
    )

"""Stretches of a long recording, spread over it and joined: choices are compared on them, to save time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.tuning.traces.trace import SessionTrace

# A session with more inferences is long.
_MOST_INFERENCES = 200_000
STRETCHES = 16
_OF_EACH = 12_288


def stretches_of(session: SessionTrace) -> tuple[tuple[int, int], ...]:
    """Return the begins and ends of the stretches of a session, in us; empty if the session is not long."""
    count = session.begins_us.size
    if count <= _MOST_INFERENCES:
        return ()
    first = np.arange(STRETCHES) * count // STRETCHES
    pairs = zip(session.begins_us[first].tolist(), session.begins_us[first + _OF_EACH].tolist(), strict=True)
    return tuple(pairs)


def shared_stretches_of(sessions: Sequence[SessionTrace]) -> tuple[tuple[int, int], ...]:
    """Return the begins and ends of the stretches for several sessions together; empty if none of them is long.

    The distances are equal if time and inferences count the same. By inferences alone, no stretch would be in a time in
    which only sessions with few inferences ran; by time alone, a session that ran for a short time might be missed.
    """
    if not any(map(stretches_of, sessions)):
        return ()
    begins_us = np.sort(np.concatenate([each.begins_us for each in sessions]))
    count, lasts_us = begins_us.size, begins_us[-1] - begins_us[0]
    passed = (np.arange(count) / count + (begins_us - begins_us[0]) / lasts_us) / 2
    first = np.arange(STRETCHES) / STRETCHES
    edges = (np.interp(each, passed, begins_us).astype(np.int64).tolist() for each in (first, first + _OF_EACH / count))
    return tuple(zip(*edges, strict=True))


def joined(session: SessionTrace, stretches: Sequence[tuple[int, int]]) -> SessionTrace:
    """Return the inferences that begin in some stretches of time, as if each followed the one before; all without any.

    An inference that goes on beyond the end of its stretch is cut there.
    """
    if not stretches:
        return session
    first, last = (np.searchsorted(session.begins_us, np.array(each)) for each in zip(*stretches, strict=True))
    lengths = np.array([end - begin for begin, end in stretches])
    # How much earlier each stretch begins than in the recording.
    earlier = np.array([begin for begin, _ in stretches]) - (np.cumsum(lengths) - lengths)
    parts = [slice(*each) for each in zip(first.tolist(), last.tolist(), strict=True)]
    ends = (np.minimum(session.ends_us[part], end) for part, (_, end) in zip(parts, stretches, strict=True))
    return attrs.evolve(
        session,
        begins_us=_moved((session.begins_us[part] for part in parts), earlier),
        ends_us=_moved(ends, earlier),
        cold=None if session.cold is None else np.concatenate([session.cold[part] for part in parts]),
    )


def _moved(of_each: Iterable[np.ndarray], earlier: np.ndarray) -> np.ndarray:
    return np.concatenate([times - by for times, by in zip(of_each, earlier.tolist(), strict=True)])

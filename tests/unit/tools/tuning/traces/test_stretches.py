"""Stretches of a long recording, joined to a short one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from support.inside import patch_private

from htppower.tools.tuning.traces import stretches
from htppower.tools.tuning.traces.stretches import STRETCHES, joined, stretches_of
from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    import pytest


def session(count: int, takes_us: int = 5_000, name: str = "camera") -> SessionTrace:
    """Return inferences whose gaps grow from one to the next, every third cold."""
    begins = np.cumsum(np.arange(count, dtype=np.int64) + 10_000)
    return SessionTrace(name, "burst", begins, begins + takes_us, np.arange(count) % 3 == 0)


def test_a_short_recording_is_used_whole() -> None:
    """Up to 200,000 inferences, a session is its own part."""
    short = session(200_000)
    assert stretches_of(short) == ()
    assert joined(short, stretches_of(short)) is short


def test_stretches_are_spread_over_the_recording_with_its_gaps() -> None:
    """The joined stretches have each inference and each gap of the recording as it was, and the first of all."""
    long = session(300_000)
    part = joined(long, stretches_of(long))
    assert part.begins_us.size == STRETCHES * 12_288
    first = np.arange(STRETCHES) * 300_000 // STRETCHES
    places = (first[:, None] + np.arange(12_288)).reshape(-1)
    assert part.cold is not None
    assert long.cold is not None
    assert np.array_equal(part.cold, long.cold[places])
    assert np.array_equal(np.diff(part.begins_us), np.diff(long.begins_us)[places[:-1]])
    assert np.array_equal(part.ends_us - part.begins_us, (long.ends_us - long.begins_us)[places])


def test_sessions_of_a_recording_share_the_stretches() -> None:
    """Another session keeps the inferences that begin in the stretches, at the same time as in the recording."""
    long, other = session(300_000), session(1_000, name="voice")
    found = stretches_of(long)
    mine, theirs = joined(long, found), joined(other, found)
    inside = other.begins_us[other.begins_us < found[0][1]]
    moved_us = int(long.begins_us[0] - mine.begins_us[0])
    assert np.array_equal(theirs.begins_us[: inside.size] + moved_us, inside)


def test_an_inference_ends_with_its_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inferences that overlap the end of a stretch do not overlap the next stretch."""
    patch_private(monkeypatch, stretches, OF_EACH=10)
    long = session(200_001, takes_us=20_000_000_000)
    part = joined(long, stretches_of(long))
    assert (part.ends_us[:10] <= part.begins_us[10]).all()
    assert (part.ends_us >= part.begins_us).all()

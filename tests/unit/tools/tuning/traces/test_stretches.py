"""Stretches of a long recording, joined to a short one."""

from __future__ import annotations

import numpy as np
import pytest
from support.inside import patch_private

from htppower.tools.tuning.traces import stretches
from htppower.tools.tuning.traces.stretches import STRETCHES, joined, shared_stretches_of, stretches_of
from htppower.tools.tuning.traces.trace import SessionTrace


def session(count: int, takes_us: int = 5_000, name: str = "camera") -> SessionTrace:
    """Return inferences whose gaps grow from one to the next, every third cold."""
    begins = np.cumsum(np.arange(count) + 10_000)
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


def test_several_sessions_share_stretches_over_all_of_their_time() -> None:
    """Stretches have about the same share of a session's short burst, of the other's inferences, and of the time."""
    begins = np.arange(0, 10_000_000_000, 10_000_000)
    slow = SessionTrace("voice", None, begins, begins + 1_000)
    busy_us = np.arange(400_000) * 200
    for start_us in (0, 8_000_000_000, 9_900_000_000):
        quick = SessionTrace("camera", None, start_us + busy_us, start_us + busy_us + 100)
        found = np.array(shared_stretches_of((slow, quick)))
        assert found.shape == (STRETCHES, 2)
        assert (found[1:, 0] >= found[:-1, 1]).all()
        inside = [joined(each, found.tolist()).begins_us.size for each in (slow, quick)]
        share = STRETCHES * 12_288 / 401_000
        assert inside == pytest.approx([share * 1_000, share * 400_000], rel=0.15)
        outside = (found[:, 1] <= quick.begins_us[0]) | (found[:, 0] >= quick.begins_us[-1])
        assert np.diff(found[outside]).sum() == pytest.approx(share * 10_000_000_000, rel=0.15)


def test_sessions_that_are_all_short_share_no_stretches() -> None:
    """Without a long session, all inferences are used."""
    assert shared_stretches_of((session(200_000), session(200_000))) == ()


def test_an_inference_ends_with_its_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inferences that overlap the end of a stretch do not overlap the next stretch."""
    patch_private(monkeypatch, stretches, OF_EACH=10)
    long = session(200_001, takes_us=20_000_000_000)
    part = joined(long, stretches_of(long))
    assert (part.ends_us[:10] <= part.begins_us[10]).all()
    assert (part.ends_us >= part.begins_us).all()

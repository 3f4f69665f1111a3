"""The cost of a recording: an inference inside its window with and without it, and the writing in the background."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from support.inside import write_now

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session
    from htppower.control.recording.recorder import Recording


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the extra cost of an inference while it is recorded, and the time for writing it on another thread."""
    rounds, pairs = 1000, 40 if smoke else 400
    with (
        tempfile.TemporaryDirectory() as folder,
        VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as recorded,
        VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as plain,
        recorded.record(Path(folder) / "trace.json", files=1, most_pending=rounds) as recording,
    ):
        sessions = recorded.session("burst"), plain.session("burst")
        times = [
            (*(_inferences(session, rounds) for session in sessions), _write(recording) / rounds) for _ in range(pairs)
        ]
    recorded_s, plain_s, written_s = zip(*times, strict=True)
    # The least of the inferences, since a shared machine is slower at times. The median of the writing: in the least,
    # the other thread may have written most inferences before.
    recorded_us, plain_us, written_us = 1e6 * min(recorded_s), 1e6 * min(plain_s), 1e6 * statistics.median(written_s)
    detail = f"{recorded_us:.2f} us against {plain_us:.2f} us"
    yield Figure("an inference that is recorded, beyond one that is not", recorded_us - plain_us, 1, "us", detail)
    yield Figure("writing it, in the background", written_us, 2, "us", f"{1e6 / written_us:,.0f} a second")


def _inferences(session: Session, rounds: int) -> float:
    """Return seconds of this thread for each inference, without the time for writing on the other thread."""
    start = time.thread_time()
    for _ in range(rounds):
        with session.inference():
            pass
    return (time.thread_time() - start) / rounds


def _write(recording: Recording) -> float:
    """Return the seconds for writing the ended inferences; here this thread writes them."""
    start = time.thread_time()
    write_now(recording)
    return time.thread_time() - start

"""Eight threads on eight sessions against one thread on one: the sessions share no lock inside their windows."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from figures import Figure
from hot_path import paired, time_inferences

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower import Session

THREADS = 8


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratio of the costs of an inference: wall time for all inferences, since the GIL lets one thread run."""
    rounds, pairs = (40_000, 5) if smoke else (80_000, 15)
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller:
        sessions = [controller.session("burst") for _ in range(THREADS)]

        def many() -> float:
            return _in_threads(sessions, rounds)

        def one() -> float:
            return _in_threads(sessions[:1], rounds)

        eight_s, one_s, ratio = paired(many, one, pairs)
    detail = f"{eight_s * 1e6:.2f} us against {one_s * 1e6:.2f} us"
    yield Figure(f"inference inside a window, {THREADS} threads on {THREADS} sessions / 1", ratio, 1.5, "x", detail)


def _in_threads(sessions: Sequence[Session], rounds: int) -> float:
    """Return the seconds of an inference, with a thread for each session; starting the threads does not count."""
    each = rounds // len(sessions)
    started_s: list[float] = []
    # The last thread that arrives reads the time, and then all continue.
    barrier = threading.Barrier(len(sessions), action=lambda: started_s.append(time.perf_counter()))

    def infer(session: Session) -> None:
        time_inferences(session, 1)  # into the window
        barrier.wait()
        time_inferences(session, each)

    threads = [threading.Thread(target=infer, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - started_s[0]) / (each * len(sessions))

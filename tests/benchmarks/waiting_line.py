"""How long a raise waits for other sessions: only for their calls before it in the line. Calls take 2 ms."""

from __future__ import annotations

import statistics
import threading
import time
from typing import TYPE_CHECKING

from figures import Figure, quantile

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower import Session

THREADS = 16
CALL_US = 2_000
# A thread that gets the line late, for example because another process runs, delays all threads behind it.
BUDGET = 1.2


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the p99 of the waits, in turns: the calls of all threads, one after the other."""
    rounds, batches = (6, 5) if smoke else (12, 9)
    backend = SimulatedHtp(arch=75)
    with VoteController(backend, handle_sigterm=False) as controller:
        sessions = [controller.session("balanced") for _ in range(THREADS)]
        backend.delay_calls(CALL_US, "setPowerConfig")
        found = [_batch(sessions, rounds) for _ in range(batches)]
        backend.delay_calls(0)
    # The median of the batches, since a pause of the machine determines the p99 of a batch.
    turn_us, p99_us, longest_us = (statistics.median(column) for column in zip(*found, strict=True))
    ratio = statistics.median(batch[1] / batch[0] for batch in found)
    detail = f"p99 {p99_us / 1000:.1f} ms, longest {longest_us / 1000:.1f} ms, turn {turn_us / 1000:.1f} ms"
    what = f"raise wait of {THREADS} sessions on {THREADS} threads / their turn"
    yield Figure(f"{what}, p99", ratio, BUDGET, "x", f"{detail}, medians of {batches}")


def _batch(sessions: Sequence[Session], rounds: int) -> tuple[float, float, float]:
    """Return how long a turn takes, and the p99 and the longest of the waits, in us."""
    start = time.perf_counter()
    waits = sorted(_waits_us(sessions, rounds))
    # Each round is a raise and a lowering of every thread.
    turn_us = (time.perf_counter() - start) * 1e6 / rounds
    return turn_us, quantile(waits, 0.99), waits[-1]


def _waits_us(sessions: Sequence[Session], rounds: int) -> list[float]:
    waits: list[float] = []
    together = threading.Barrier(len(sessions))

    def infer(session: Session) -> None:
        together.wait()
        for _ in range(rounds):
            start = time.perf_counter()
            with session.inference():
                waits.append((time.perf_counter() - start) * 1e6)

    threads = [threading.Thread(target=infer, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits

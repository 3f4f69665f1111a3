"""Raises of many threads on a backend that takes one call at a time: each waits for its turn, and no longer."""

from __future__ import annotations

import statistics
import threading
import time
from typing import TYPE_CHECKING

import attrs
from figures import Figure, quantile

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session
    from htppower.backends import Description

THREADS = 8
CALL_US = 2_000


class OneCall(SimulatedHtp):
    """Takes one call at a time."""

    def describe(self) -> Description:
        """Return what it is."""
        return attrs.evolve(super().describe(), one_call_at_a_time=True)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the longest waits of a raise, in turns: the calls of all threads, one after the other."""
    rounds, batches = (6, 5) if smoke else (12, 9)
    backend = OneCall(arch=75)
    with VoteController(backend, handle_sigterm=False) as controller:
        sessions = [controller.session("balanced") for _ in range(THREADS)]
        backend.delay_calls(CALL_US, "setPowerConfig")
        found = [_batch(sessions, rounds) for _ in range(batches)]
        backend.delay_calls(0)
    # The median of the batches: where the machine stands still in one, that decides the p99 of it.
    turn_us, p99_us, longest_us = (statistics.median(column) for column in zip(*found, strict=True))
    ratio = statistics.median(batch[1] / batch[0] for batch in found)
    detail = f"p99 {p99_us / 1000:.1f} ms, longest {longest_us / 1000:.1f} ms, turn {turn_us / 1000:.1f} ms"
    what = f"raise wait of {THREADS} threads, one call at a time / turn"
    yield Figure(f"{what}, p99", ratio, 1.5, "x", f"{detail}, medians of {batches}")


def _batch(sessions: list[Session], rounds: int) -> tuple[float, float, float]:
    """Return how long a turn takes, and the p99 and the longest of the waits, in us."""
    start = time.perf_counter()
    waits = sorted(_waits_us(sessions, rounds))
    # Each round is a raise and a lowering of every thread.
    turn_us = (time.perf_counter() - start) * 1e6 / (2 * rounds)
    return turn_us, quantile(waits, 0.99), waits[-1]


def _waits_us(sessions: list[Session], rounds: int) -> list[float]:
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

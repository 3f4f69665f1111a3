"""How long a raise waits, alone and beside 15 other sessions on threads of their own, with calls that take 2 ms."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

from figures import Figure, quantile

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower import Session

SESSIONS = 16
CALL_US = 2000
IDLE_S = 0.005
# The second lowers the polling of the process when the last of its sessions comes down, and raises it again.
PROFILES = ("balanced", "high_performance")


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratios of p50 and p99, without and with settings of the process that change."""
    rounds, pairs = (20, 3) if smoke else (100, 5)
    for profile in PROFILES:
        simulated = SimulatedHtp(arch=75)
        with VoteController(simulated, handle_sigterm=False) as controller:
            sessions = [controller.session(profile) for _ in range(SESSIONS)]
            simulated.delay_calls(CALL_US)
            alone_ms: list[float] = []
            beside_ms: list[float] = []
            for _ in range(pairs):
                alone_ms += waits_ms(sessions[:1], rounds, IDLE_S)
                beside_ms += waits_ms(sessions, rounds, IDLE_S)
            simulated.delay_calls(0)
        for share, budget in ((0.5, 1.3), (0.99, 2.5)):
            alone, beside = quantile(alone_ms, share), quantile(beside_ms, share)
            what = f"raise wait, {SESSIONS} sessions of {profile} / 1, p{share * 100:.0f}"
            yield Figure(what, beside / alone, budget, "x", f"{beside:.2f} ms against {alone:.2f} ms")


def waits_ms(sessions: Sequence[Session], rounds: int, idle_s: float = 0.0) -> list[float]:
    """Return how long entering an inference takes, each isolated, with a thread for each session.

    Between two a session is idle for up to twice ``idle_s``, at random, so that the threads do not keep step.
    """
    waits: list[float] = []
    barrier = threading.Barrier(len(sessions))

    def infer(session: Session) -> None:
        chance = random.Random(session.number)
        barrier.wait()
        for _ in range(rounds):
            start = time.perf_counter()
            with session.inference():
                waits.append((time.perf_counter() - start) * 1000)
            if idle_s:
                time.sleep(chance.uniform(0, 2 * idle_s))

    threads = [threading.Thread(target=infer, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits

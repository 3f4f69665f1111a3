"""Inferences inside one session's window, while another session raises and lowers on a backend that is slow."""

from __future__ import annotations

import contextlib
import math
import statistics
import threading
import time
from typing import TYPE_CHECKING

from figures import Figure
from hot_path import time_inferences

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session

CALL_US = 5_000


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield p99 with the other session against without it, measured in turn, and the longest inferences."""
    duration_s, pairs = (0.2, 5) if smoke else (0.4, 11)
    simulated = SimulatedHtp(arch=75)
    with VoteController(simulated, handle_sigterm=False) as controller:
        inferring, voting = controller.session("burst"), controller.session("high_performance")
        time_inferences(inferring, 1)
        simulated.delay_calls(CALL_US, "setPowerConfig")
        alone: list[list[float]] = []
        beside: list[list[float]] = []
        made = controller.status().sessions[1].calls_sent
        for _ in range(pairs):
            alone.append(_times_us(inferring, duration_s))
            with _votes_on_and_on(voting):
                beside.append(_times_us(inferring, duration_s))
        made = controller.status().sessions[1].calls_sent - made
        simulated.delay_calls(0)
    ratio = statistics.median(_p99(with_it) / _p99(without) for with_it, without in zip(beside, alone, strict=True))
    p99_us, own_us = (statistics.median(map(_p99, each)) for each in (beside, alone))
    detail = f"p99 {p99_us:.2f} us against {own_us:.2f} us, {made} calls of {CALL_US // 1000} ms"
    yield Figure("inference in a window beside slow votes / alone, p99", ratio, 1.5, "x", detail)
    # Whoever waited for the calls would wait once a call; a machine that stands still now and then does so alone, too,
    # for as long. What is more than that, and than two standard deviations of both counts, is waited for the calls.
    waits, own = (sum(time_us >= CALL_US for times in each for time_us in times) for each in (beside, alone))
    more = max(0.0, waits - own - 2 * math.sqrt(waits + own))
    detail = f"{waits} waits of {CALL_US // 1000} ms and more, alone {own}, calls {made}"
    yield Figure("waits as long as a call, for each slow call beside", more / made, 0.1, "", detail)
    largest_ms, own_ms = (max(map(max, each)) / 1000 for each in (beside, alone))
    detail = f"alone {own_ms:.2f} ms, of {sum(map(len, beside))} inferences"
    yield Figure("inference in a window beside slow votes, longest", largest_ms, None, "ms", detail)


@contextlib.contextmanager
def _votes_on_and_on(session: Session) -> Iterator[None]:
    """Raise and lower in a thread, over and over, until the end of the block."""
    over = threading.Event()

    def vote() -> None:
        while not over.is_set():
            time_inferences(session, 1)

    thread = threading.Thread(target=vote)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _times_us(session: Session, duration_s: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + duration_s
    began = time.perf_counter()
    while began < end:
        with session.inference():
            pass
        ended = time.perf_counter()
        times.append((ended - began) * 1e6)
        began = time.perf_counter()
    return times


def _p99(times_us: list[float]) -> float:
    return sorted(times_us)[int(len(times_us) * 0.99)]

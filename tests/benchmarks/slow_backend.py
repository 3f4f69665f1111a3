"""Inferences inside one session's window, while another session raises and lowers on a slow backend."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from figures import Figure, quantile
from hot_path import time_inferences

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session

CALL_US = 5_000
# Linux's statistics of the thread that reads this file.
SCHEDULED = Path("/proc/thread-self/schedstat")


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratio of p99 with the other session to p99 alone, the time waited for its calls, and the longest."""
    duration_s, pairs = (0.2, 5) if smoke else (0.4, 11)
    simulated = SimulatedHtp(arch=75)
    with VoteController(simulated, handle_sigterm=False) as controller:
        inferring, voting = controller.session("burst"), controller.session("high_performance")
        time_inferences(inferring, 1)
        simulated.delay_calls(CALL_US, "setPowerConfig")
        alone: list[_Inferences] = []
        beside: list[_Inferences] = []
        made = controller.status().sessions[1].calls_sent
        for _ in range(pairs):
            alone.append(_infer(inferring, duration_s))
            with _votes_on_and_on(voting):
                beside.append(_infer(inferring, duration_s))
        made = controller.status().sessions[1].calls_sent - made
        simulated.delay_calls(0)
    ratio = statistics.median(one.p99_us / other.p99_us for one, other in zip(beside, alone, strict=True))
    p99_us, own_us = (statistics.median(run.p99_us for run in each) for each in (beside, alone))
    detail = f"p99 {p99_us:.2f} us against {own_us:.2f} us, {made} calls of {CALL_US // 1000} ms"
    yield Figure("inference in a window beside slow votes / alone, p99", ratio, 1.5, "x", detail)
    if SCHEDULED.exists():
        waited_us, own_us = (statistics.median(run.waited_us for run in each) for each in (beside, alone))
        called_us = made * CALL_US / pairs
        detail = f"{waited_us / 1000:.2f} ms of {called_us / 1000:.0f} ms, alone {own_us / 1000:.2f} ms, medians"
        yield Figure("time waited beside slow votes / that of the calls", waited_us / called_us, 0.1, "x", detail)
    largest_ms, own_ms = (max(run.longest_us for run in each) / 1000 for each in (beside, alone))
    detail = f"alone {own_ms:.2f} ms, of {sum(run.made for run in beside)} inferences"
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


class _Inferences(NamedTuple):
    """How long inferences took, and how long their thread waited, not counting waits for a processor."""

    made: int
    p99_us: float
    longest_us: float
    waited_us: float


def _infer(session: Session, duration_s: float) -> _Inferences:
    times_us: list[float] = []
    ready_us, start = _ready_us(), time.perf_counter()
    end = start + duration_s
    began = time.perf_counter()
    while began < end:
        with session.inference():
            pass
        ended = time.perf_counter()
        times_us.append((ended - began) * 1e6)
        began = time.perf_counter()
    waited_us = (time.perf_counter() - start) * 1e6 - (_ready_us() - ready_us)
    return _Inferences(len(times_us), quantile(times_us, 0.99), max(times_us), max(0.0, waited_us))


def _ready_us() -> float:
    """Return how long this thread has run, or has waited for a processor; 0 if not known."""
    if not SCHEDULED.exists():
        return 0.0
    ran_ns, kept_ns, _ = SCHEDULED.read_text(encoding="ascii").split()
    return (int(ran_ns) + int(kept_ns)) / 1000

"""How long other sessions and ``status`` wait while a native call of one session hangs for a second."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from typing import TYPE_CHECKING

import attrs
from figures import Figure, quantile
from hot_path import time_inferences

from htppower import VoteController, load_profile
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower import Session
    from htppower.votes.vote_set import VoteSet

HANG_S = 1.0
SMOKE_HANG_S = 0.2
SUSTAIN_US = 25_000
MANY = 1000


class HangingHtp(SimulatedHtp):
    """Takes a time for the next call on one id when it is told to.

    Args:
        hang_s: how long.
    """

    def __init__(self, hang_s: float) -> None:
        super().__init__(arch=75)
        self.hang_s = hang_s
        self.hangs_on = 0
        self.hanging = threading.Event()

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set, after that time on that id."""
        if power_config_id == self.hangs_on:
            self.hanging.set()
            time.sleep(self.hang_s)
            self.hanging.clear()
        super().set_power_config(power_config_id, votes)


@contextlib.contextmanager
def hanging(backend: HangingHtp, session: Session) -> Iterator[None]:
    """Let a raise of a session hang during the block, and wait for it at the end."""
    (backend.hangs_on,) = session.power_config_ids.values()
    thread = threading.Thread(target=time_inferences, args=(session, 1))
    thread.start()
    backend.hanging.wait()
    backend.hangs_on = 0
    yield
    thread.join()


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield how long ``status`` and an inference in its window wait."""
    many, rounds = (100, 5) if smoke else (MANY, 40)
    backend = HangingHtp(SMOKE_HANG_S if smoke else HANG_S)
    with VoteController(backend, handle_sigterm=False) as controller:
        yield from _window(controller, backend)
        yield from _status(controller, backend, many, rounds)


def _window(controller: VoteController, backend: HangingHtp) -> Iterator[Figure]:
    """Yield how long inferences within their window take while a call of another session hangs."""
    hangs, runs = _open(controller, 2)
    time_inferences(runs, 1)
    without_us, beside_us = [time_inferences(runs, 1000) * 1e6], list[float]()
    with hanging(backend, hangs):
        while backend.hanging.is_set():
            beside_us.append(time_inferences(runs, 1000) * 1e6)
    without_us.append(time_inferences(runs, 1000) * 1e6)
    beside, without = min(beside_us), min(without_us)
    detail = f"{beside:.2f} us against {without:.2f} us, the quickest thousand of each"
    yield Figure("inference in its window while a call hangs / without", beside / without, 1.5, "x", detail)


def _open(controller: VoteController, count: int, sustain_us: int = 600_000_000) -> list[Session]:
    burst = load_profile("burst")
    assert burst.relax is not None
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=sustain_us))
    return [controller.session(profile) for _ in range(count)]


def _status(controller: VoteController, backend: HangingHtp, many: int, rounds: int) -> Iterator[Figure]:
    """Yield how long a status of many sessions takes while a call hangs, and how long an inference waits for it."""
    sessions = _open(controller, many)
    for session in sessions[1:]:
        time_inferences(session, 1)
    taken_ms: list[float] = []
    with hanging(backend, sessions[0]):
        cpu_s = time.thread_time()
        while len(taken_ms) < rounds and backend.hanging.is_set():
            start = time.perf_counter()
            controller.status()
            taken_ms.append((time.perf_counter() - start) * 1000)
        cpu_ms = (time.thread_time() - cpu_s) / len(taken_ms) * 1000
    # The quickest, since on a busy machine half of them wait for other processes. If one waits for the call, it is the
    # last of the rounds.
    detail = f"of {len(taken_ms)}, median {statistics.median(taken_ms):.2f} ms, of the processor {cpu_ms:.2f} ms"
    yield Figure(f"status() with {many} sessions while a call hangs", min(taken_ms), 5, "ms", detail)
    # While any thread computes, an inference waits for the interpreter. A longer wait is for a lock.
    beside_ms, plain_ms = (
        statistics.median(_p99_ms(sessions[-1], work, rounds) for _ in range(5))
        for work in (controller.status, _compute)
    )
    detail = f"p99 {beside_ms * 1000:.1f} us, beside a thread that computes {plain_ms * 1000:.1f} us"
    yield Figure("what an inference waits for status()", max(0, round(beside_ms - plain_ms, 2)), 0, "ms", detail)


def _compute() -> None:
    sum(number * number for number in range(50_000))


def _p99_ms(session: Session, work: Callable[[], object], rounds: int) -> float:
    """Return the p99 of inferences while another thread works."""
    over, waits = threading.Event(), list[float]()

    def infer() -> None:
        while not over.is_set():
            start = time.perf_counter()
            with session.inference():
                pass
            waits.append((time.perf_counter() - start) * 1000)

    thread = threading.Thread(target=infer)
    thread.start()
    for _ in range(rounds):
        work()
    over.set()
    thread.join()
    return quantile(waits, 0.99)

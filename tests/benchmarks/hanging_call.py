"""What other sessions and ``status`` wait for while a native call of one session hangs for a second."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from typing import TYPE_CHECKING

import attrs
from figures import Figure, quantile
from hot_path import time_inferences
from side_by_side import waits_ms

from htppower import VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.events import Event, Transition

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
    """Let a raise of a session hang during the block; wait for it in the end."""
    (backend.hangs_on,) = session.power_config_ids.values()
    thread = threading.Thread(target=time_inferences, args=(session, 1))
    thread.start()
    backend.hanging.wait()
    backend.hangs_on = 0
    yield
    thread.join()


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield what a raise, a lowering, ``status`` and an inference beside ``status`` wait for."""
    rounds, pairs = (10, 4) if smoke else (60, 5)
    backend = HangingHtp(SMOKE_HANG_S if smoke else HANG_S)
    with VoteController(backend, handle_sigterm=False) as controller:
        # The settings of the process are in force: who needs one that is just being cast waits for that call.
        (own,) = _open(controller, 1)
        with own.inference():
            yield from _raise_and_lower(controller, backend, rounds, pairs)
    yield from _status(smoke=smoke)


def _raise_and_lower(controller: VoteController, backend: HangingHtp, rounds: int, pairs: int) -> Iterator[Figure]:
    hangs, raises = (controller.session("balanced") for _ in range(2))
    (lowers,) = _open(controller, 1, SUSTAIN_US)
    late_us: list[int] = []

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.session == lowers.number and event.late_us is not None:
            late_us.append(event.late_us)

    controller.subscribe(see, Transition)
    waits: dict[bool, list[float]] = {False: [], True: []}
    lateness: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(pairs):
        for beside in (False, True):
            late_us.clear()
            with hanging(backend, hangs) if beside else contextlib.nullcontext():
                waits[beside] += _rounds(raises, lowers, rounds, 0.8 * backend.hang_s)
            controller.flush_events()
            lateness[beside] += late_us
    for what, found, unit in (("raise wait", waits, "ms"), ("lateness of a lowering", lateness, "us")):
        with_it, without = (statistics.median(found[beside]) for beside in (True, False))
        detail = f"{with_it:.3g} {unit} against {without:.3g} {unit}, medians of {len(found[True])}"
        yield Figure(f"{what} while another session's call hangs / without", with_it / without, 1.5, "x", detail)


def _rounds(raises: Session, lowers: Session, rounds: int, time_s: float) -> list[float]:
    """Let the one raise, and the alarm of the other lower, within a time."""
    found: list[float] = []
    end_s = time.perf_counter() + time_s
    while len(found) < rounds and time.perf_counter() < end_s:
        with lowers.inference():
            pass
        found += waits_ms([raises], 5)
        time.sleep(SUSTAIN_US * 1.4e-6)
    return found


def _open(controller: VoteController, count: int, sustain_us: int = 600_000_000) -> list[Session]:
    burst = load_profile("burst")
    assert burst.relax is not None
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=sustain_us))
    return [controller.session(profile) for _ in range(count)]


def _status(*, smoke: bool) -> Iterator[Figure]:
    """Yield how long a status of many sessions takes beside a call that hangs, and what an inference waits for it."""
    many, rounds = (100, 5) if smoke else (MANY, 40)
    backend = HangingHtp(SMOKE_HANG_S if smoke else HANG_S)
    with VoteController(backend, handle_sigterm=False) as controller:
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
        # The quickest: on a busy machine half of them wait for others. One that waits for the call ends the rounds.
        detail = f"of {len(taken_ms)}, median {statistics.median(taken_ms):.2f} ms, of the processor {cpu_ms:.2f} ms"
        yield Figure(f"status() with {many} sessions while a call hangs", min(taken_ms), 5, "ms", detail)
        # Beside any thread an inference waits for the interpreter; what is more than that it waits for a lock.
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

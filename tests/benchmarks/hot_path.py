"""Compares the hot path with an empty context manager in the same run, and counts the native calls of inferences."""

from __future__ import annotations

import statistics
import threading
import time
from typing import TYPE_CHECKING

from figures import Figure

from htppower import ModeSession, Session, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class EmptyManager:
    """The smallest possible context manager for a phase: a lock, a counter, and a clock read on leaving."""

    __slots__ = ("count", "last_ns", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.last_ns = 0

    def __enter__(self) -> None:
        with self.lock:
            self.count += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.count -= 1
            self.last_ns = time.monotonic_ns()


class Host:
    """Returns the empty manager, as a session returns its own."""

    def __init__(self) -> None:
        self._manager = EmptyManager()

    def inference(self) -> EmptyManager:
        """Return the manager."""
        return self._manager


def time_inferences(subject: Host | Session | ModeSession, rounds: int) -> float:
    """Return seconds per ``with subject.inference(): pass``."""
    start = time.perf_counter()
    for _ in range(rounds):
        with subject.inference():
            pass
    return (time.perf_counter() - start) / rounds


def paired(first: Callable[[], float], second: Callable[[], float], pairs: int) -> tuple[float, float, float]:
    """Return the medians of both, and of their ratio, measured in turn so that a drift of the machine falls on both."""
    times = [(first(), second()) for _ in range(pairs)]
    ratio = statistics.median(one / other for one, other in times)
    return statistics.median(one for one, _ in times), statistics.median(other for _, other in times), ratio


def quickest(first: Callable[[], float], second: Callable[[], float], pairs: int) -> tuple[float, float, float]:
    """Return the least of both, and their ratio, measured in turn many times; for work that takes a few ms.

    With many runs, some are undisturbed even on a busy machine.
    """
    times = [(first(), second()) for _ in range(pairs)]
    least, other = min(one for one, _ in times), min(other for _, other in times)
    return least, other, least / other


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the figures of the hot path."""
    rounds, pairs = 500, 60 if smoke else 1000
    recorder = RecordingBackend(SimulatedHtp(arch=75))
    with VoteController(recorder, handle_sigterm=False) as controller:
        session, host = controller.session("burst"), Host()
        time_inferences(session, 1000)
        before = len(recorder.calls)
        ours, empty, ratio = quickest(
            lambda: time_inferences(session, rounds), lambda: time_inferences(host, rounds), pairs
        )
        in_window = len(recorder.calls) - before
        detail = f"{ours * 1e6:.2f} us against {empty * 1e6:.2f} us"
        yield Figure("inference inside a window / empty context manager", ratio, 1.4, "x", detail)
        runs = rounds * pairs
        yield Figure("native calls inside a sustain window", in_window, 0, "calls", f"{runs} inferences")
        isolated = controller.session("high_performance")
        time_inferences(isolated, 1)
        before = len(recorder.calls)
        time_inferences(isolated, 100)
        each = (len(recorder.calls) - before) / 100
        yield Figure("native calls for an isolated inference", each, 2, "calls", "raise, lower")
    yield _in_virtual_time(200 if smoke else 2000)


def _in_virtual_time(times: int) -> Figure:
    """Return what a dry run, a simulation or a test of a host pays for an isolated inference."""
    with VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False) as controller:
        session = controller.session("balanced")
        time_inferences(session, 100)
        each_us = min(time_inferences(session, 20) for _ in range(times)) * 1e6
    detail = f"{1e6 / each_us:.0f} a second"
    return Figure("isolated inference in virtual time, simulated HTP", each_us, 100, "us", detail)

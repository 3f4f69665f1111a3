"""Compares a vote through the vendor's library's backend with a bare ctypes call of the same function, in one run."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from typing import TYPE_CHECKING

import attrs
from figures import Figure
from hot_path import quickest, time_inferences
from support.inside import device_of
from transitions import Machine

from htppower import VoteController, load_profile
from htppower.backends import QnnHtp, SimulatedHtp
from htppower.backends.qnn import abi
from htppower.errors import BackendUnavailable
from htppower.tools.cli.terminal import kept_off_stdout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from htppower.votes.vote_set import VoteSet

BUDGET = 2.0
SOC_MODEL = 57
CALL_US = 500


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Measure on the vendor's library; yield nothing if it is not found."""
    rounds, pairs = 500, 60 if smoke else 1000
    try:
        with kept_off_stdout():
            backend = QnnHtp(os.environ.get("HTPPOWER_QNN_LIBRARY"), SOC_MODEL)
    except BackendUnavailable as unavailable:
        yield Figure("a vote / a bare ctypes call: not measured", 0.0, None, "x", unavailable.message)
        return
    burst = load_profile("burst")
    assert burst.relax is not None
    made = backend.create_power_config_id(0, 0)
    own = [burst.votes, burst.relax.to.votes]
    # Equal sets, but different objects each time, as the controller makes them.
    fresh = [attrs.evolve(votes) for _ in range(rounds) for votes in own]
    for what, votes in (("the same vote sets", own), ("equal vote sets", fresh)):
        bare = _bare(backend, made, own, rounds)
        vote_s, bare_s, ratio = quickest(_through(backend, made, votes, rounds), bare, pairs)
        detail = f"{vote_s * 1e6:.2f} us, bare {bare_s * 1e6:.2f} us, {backend.describe().versions[0][1]}"
        yield Figure(f"{what} through the backend / bare ctypes call", ratio, BUDGET, "x", detail)
    backend.destroy_power_config_id(made)
    yield _on_a_thread(lambda: _through_the_controller(backend, 25, 2 * pairs))
    yield _on_the_main_thread(20 if smoke else 200)
    with kept_off_stdout():
        backend.close()


def _bare(backend: QnnHtp, power_config_id: int, votes: Sequence[VoteSet], rounds: int) -> Callable[[], float]:
    """Return a function that makes the same call with ready structs, and returns its seconds."""
    structs = [[abi.power_config(config) for config in each.native(power_config_id)] for each in votes]
    pointers = [abi.null_terminated(each) for each in structs]
    addresses = [ctypes.addressof(each) for each in pointers]
    function = device_of(backend).set_config

    def run() -> float:
        start = time.perf_counter()
        for _, address in zip(range(rounds), itertools.cycle(addresses), strict=False):
            function(power_config_id, address)
        return (time.perf_counter() - start) / rounds

    run.held = (structs, pointers)  # type: ignore[attr-defined]
    return run


def _through(backend: QnnHtp, power_config_id: int, votes: Sequence[VoteSet], rounds: int) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        for _, each in zip(range(rounds), itertools.cycle(votes), strict=False):
            backend.set_power_config(power_config_id, each)
        return (time.perf_counter() - start) / rounds

    return run


def _through_the_controller(backend: QnnHtp, rounds: int, pairs: int) -> Figure:
    """Return the ratio of the cost of an isolated inference, with raise and lower, to the least code for the same."""
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    made = backend.create_power_config_id(0, 0)
    calls = _bare(backend, made, [balanced.votes, balanced.relax.to.votes], 2 * rounds)
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session(balanced)
        time_inferences(session, rounds)
        ours, bare, ratio = quickest(
            lambda: time_inferences(session, rounds), lambda: 2 * (_bare_trigger(rounds) + calls()), pairs
        )
    backend.destroy_power_config_id(made)
    detail = f"{ours * 1e6:.1f} us against {bare * 1e6:.1f} us"
    return Figure("isolated inference on a thread / two bare triggers and two bare calls", ratio, 3.5, "x", detail)


def _on_a_thread(measured: Callable[[], Figure]) -> Figure:
    found: list[Figure] = []
    thread = threading.Thread(target=lambda: found.append(measured()))
    thread.start()
    thread.join()
    return found[0]


def _on_the_main_thread(rounds: int) -> Figure:
    """Return the extra time of the worker for an isolated inference with calls of 0.5 ms."""
    backend = SimulatedHtp(arch=75)
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session("balanced")
        made = backend.create_power_config_id(0, 0)
        backend.delay_calls(CALL_US)
        votes = session.profile.votes

        def calls() -> float:
            start = time.perf_counter()
            for _ in range(2 * rounds):
                backend.set_power_config(made, votes)
            return (time.perf_counter() - start) / rounds

        ours, alone, ratio = quickest(lambda: time_inferences(session, rounds), calls, 5)
        backend.delay_calls(0)
        backend.destroy_power_config_id(made)
    detail = f"{ours * 1e3:.2f} ms against {alone * 1e3:.2f} ms, calls of {CALL_US / 1000:g} ms"
    return Figure("isolated inference on the main thread / its calls", ratio, 1.1, "x", detail)


def _bare_trigger(rounds: int) -> float:
    """Return the seconds of a trigger of ``transitions``, without a callback."""
    model = _Model()
    ways = [["raise_", "LOWERED", "RAISED"], ["lower", "RAISED", "LOWERED"]]
    Machine(model, states=["LOWERED", "RAISED"], transitions=ways, initial="LOWERED", auto_transitions=False)
    triggers = (model.raise_, model.lower)  # type: ignore[attr-defined]
    start = time.perf_counter()
    for _, trigger in zip(range(rounds), itertools.cycle(triggers), strict=False):
        trigger()
    return (time.perf_counter() - start) / rounds


class _Model:
    """An object with a state."""

"""Compares lowering in the background and in the foreground: the time to leave an inference, and the saved calls."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs
from figures import Figure
from hot_path import paired

from htppower import State, VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.profiles.profile import Lowering

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session

CALL_US = 500


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the time of leaving an isolated inference, and the calls of a tight loop, with calls of 500 us."""
    rounds, pairs, loop = (5, 3, 50) if smoke else (50, 15, 2000)
    high = load_profile("high_performance")
    assert high.relax is not None
    relax = attrs.evolve(high.relax, lowering=Lowering.BACKGROUND)
    simulated = SimulatedHtp(arch=75)
    simulated.delay_calls(CALL_US, "setPowerConfig")
    with VoteController(simulated, handle_sigterm=False) as controller:
        foreground, background = controller.session(high), controller.session(attrs.evolve(high, relax=relax))
        back_s, fore_s, ratio = paired(
            lambda: _leaving(background, rounds), lambda: _leaving(foreground, rounds), pairs
        )
        detail = f"{back_s * 1e6:.0f} us against {fore_s * 1e6:.0f} us, calls of {CALL_US} us"
        yield Figure("leaving an inference, lowering background / foreground", ratio, 0.5, "x", detail)
        for what, work_s in (("work that holds the GIL", 0.0), ("work of 200 us that frees the GIL", 200e-6)):
            yield _tight_loop(controller, background, loop, what, work_s)
        simulated.delay_calls(0)


def _tight_loop(controller: VoteController, session: Session, rounds: int, what: str, work_s: float) -> Figure:
    """Return the calls of inferences without gaps between them, including the last lowering."""
    before = controller.status().sessions[session.number - 1]
    start = time.perf_counter()
    for _ in range(rounds):
        with session.inference():
            if work_s:
                time.sleep(work_s)
    each_us = (time.perf_counter() - start) / rounds * 1e6
    _wait_until_lowered(session)
    after = controller.status().sessions[session.number - 1]
    calls = (after.calls_sent - before.calls_sent) / rounds
    detail = f"{what}: {after.calls_saved - before.calls_saved} saved in {rounds}, {each_us:.0f} us each"
    return Figure("native calls of an inference in a loop, background", calls, 2, "calls", detail)


def _leaving(session: Session, rounds: int) -> float:
    """Return the seconds between the end of the work and the end of the inference, each after votes have come down."""
    taken_s = 0.0
    for _ in range(rounds):
        with session.inference():
            start = time.perf_counter()
        taken_s += time.perf_counter() - start
        _wait_until_lowered(session)
    return taken_s / rounds


def _wait_until_lowered(session: Session) -> None:
    while session.state is not State.LOWERED:
        time.sleep(0.0005)

"""From a restart of the subsystem to the last session that is voted again, with calls that take 2 ms."""

from __future__ import annotations

import contextlib
import statistics
import threading
from typing import TYPE_CHECKING

from figures import Figure

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.events import CallMade, Event, Transition
from htppower.votes.native_codes import SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSIONS = 32
CALL_US = 2000
LONG_S = 60


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratio of the time to its calls: one fails, each session makes one, and settings take two more."""
    sessions, rounds = (8, 5) if smoke else (SESSIONS, 9)
    taken_us = [_recover(sessions) for _ in range(rounds)]
    detail = f"{statistics.median(taken_us) / 1000:.1f} ms, calls of {CALL_US // 1000} ms, median of {rounds}"
    ratio = statistics.median(taken_us) / (CALL_US * (sessions + 3))
    yield Figure(f"recovery of {sessions} sessions, from 1007 to the last / its calls", ratio, 1.2, "x", detail)


def _recover(count: int) -> int:
    """Return the microseconds from the call that reported the restart until the last session is raised again."""
    simulated, recovered, told_us = SimulatedHtp(arch=75), threading.Event(), list[int]()
    raised_us: dict[int, int] = {}

    def see(event: Event) -> None:
        if isinstance(event, CallMade) and event.code == SYSTEM_COMMUNICATION:
            told_us.append(event.time_us)
        elif told_us and isinstance(event, Transition) and event.dest is State.RAISED:
            raised_us[event.session] = event.time_us
            if len(raised_us) == count + 1:
                recovered.set()

    with VoteController(simulated, handle_sigterm=False) as controller, contextlib.ExitStack() as running:
        for _ in range(count):
            running.enter_context(controller.session("burst").inference())
        tells = controller.session("burst")
        controller.subscribe(see)
        simulated.delay_calls(CALL_US)
        simulated.restart_subsystem()
        with tells.inference():
            assert recovered.wait(LONG_S)
        simulated.delay_calls(0)
    return max(raised_us.values()) - told_us[0]

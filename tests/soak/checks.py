"""The checks after the chaos is over."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from soak.host import CLOCK
from soak.memory import MOST_GROWTH, Memory, is_checked
from soak.watching import BOUND_US, StateWatch

from htppower import State
from htppower.control.core.link import LONGEST_RETRY_US
from htppower.events import LinkState
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from soak.tally import Tally

    from htppower import VoteController
    from htppower.backends import SimulatedHtp

CORES = (0, 1)
LONGEST_END_S = 5.0
_DOWN = frozenset({State.LOWERED, State.UNVOTED})


def check_comes_down(controller: VoteController, tally: Tally) -> None:
    """Check that idle sessions are lowered within the longest back-off, when calls succeed again."""
    begun_us = CLOCK.now_us
    if controller.status().link is LinkState.HELD:
        # There were faults right after a renewal. A host that has freed its session reports it like this.
        controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
    while True:
        status = controller.status()
        up = [f"{session.owner} {session.state}" for session in status.sessions if session.state not in _DOWN]
        idle_us = CLOCK.now_us - begun_us
        if not up and not status.orphans:
            tally.largest("down_us", idle_us)
            return
        if idle_us > LONGEST_RETRY_US + BOUND_US:
            tally.breach("lowering", f"{up} and orphans {status.orphans}, {idle_us} us after the last fault")
            return
        time.sleep(0.01)


def check_events(controller: VoteController, tally: Tally) -> None:
    """Check that every subscriber has received all events."""
    if not controller.flush_events(LONGEST_END_S):
        tally.breach("events", "a subscriber is not told of everything within 5 s")
    lost = controller.status().events_lost
    if lost:
        tally.breach("events", f"{lost} were lost")


def check_matched(watch: StateWatch, tally: Tally) -> None:
    """Check that every opened session has an event for its end, and so every raise was undone."""
    if watch.states:
        tally.breach("events", f"never told to be destroyed: {watch.states}")


def check_nothing_voted(simulated: SimulatedHtp, tally: Tally) -> None:
    """Check that all ids, clocks and polling are gone."""
    if simulated.power_config_ids:
        tally.breach("votes", f"the ids {simulated.power_config_ids} are left")
    for core_id in CORES:
        left = simulated.effective(0, core_id)
        clocks = {left.core_min, left.core_target, left.core_max, left.bus_min, left.bus_target, left.bus_max}
        hmx = {left.hmx_min, left.hmx_target, left.hmx_max}
        polling = {left.rpc_polling_time_us, left.adaptive_polling_time_us}
        if (clocks, hmx, polling) != ({VoltageCorner.DISABLE.value}, {ExpandedCorner.DISABLE.value}, {0}):
            tally.breach("votes", f"core {core_id} is left at {left}")


def check_threads(before: Iterable[threading.Thread], tally: Tally) -> None:
    """Check that every started thread has ended, within 5 s."""
    end_s = time.monotonic() + LONGEST_END_S
    for thread in set(threading.enumerate()) - set(before):
        thread.join(max(0, end_s - time.monotonic()))
        if thread.is_alive():
            tally.breach("threads", f"{thread.name} is left")


def check_memory(first: Memory, last: Memory, tally: Tally) -> None:
    """Check that Python's allocations have not grown by more than 5 %, if that can be measured."""
    growth = last.growth_from(first)
    if growth > MOST_GROWTH and is_checked():
        tally.breach("memory", f"{growth:+.1%} since the first second")

"""Endurance: ``python tests/soak/run.py [--seconds 60] [--seed N]``.

Eight threads use four sessions on the simulated HTP, in real time, while calls fail and are slow, the subsystem
restarts, the wall clock steps, profiles change, holds and caps come and go, and sessions are closed. Prints the seed
and a table of figures. If a rule was broken, it is printed, and the exit code is 1. The seed fixes the acts of each
thread, but not how the threads interleave.
"""

from __future__ import annotations

import argparse
import datetime
import logging
import random
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from freezegun import freeze_time

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from soak import checks, memory
from soak.chaos import Chaos
from soak.host import SESSIONS, THREADS, Host, Place
from soak.lowering import LookOut
from soak.tally import Tally
from soak.turnstile import Turnstile
from soak.watching import BOUND_US, LogWatch, OrderWatch, StateWatch, WatchedBackend

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.events import Transition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from soak.memory import Memory

# The monotonic clock stays real for these modules, since a step of the wall clock does not move it.
NOT_STEPPED = ["htppower", "soak", "threading", "__main__"]


@attrs.frozen
class Result:
    """The result of a soak.

    Attributes:
        tally: counts, largest values, breaches.
        first, last: the memory in use after the first second, and at the end.
        threads: how many threads ran under load.
    """

    tally: Tally
    first: Memory
    last: Memory
    threads: int

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table."""
        for name, what in _COUNTED.items():
            yield f"{name:<58}{self.tally.counted(what):>12,}"
        late, idle, down = (self.tally.largest_of(name) / 1000 for name in ("late_us", "idle_raised_us", "down_us"))
        yield f"{'largest lateness of a lowering (bound ' + f'{BOUND_US / 1000:.0f} ms)':<58}{late:>12.2f} ms"
        yield f"{'longest raised and idle, sustain of up to 50 ms included':<58}{idle:>12.2f} ms"
        yield f"{'until all was down after the last fault':<58}{down:>12.2f} ms"
        growth = self.last.growth_from(self.first)
        unchecked = "" if memory.is_checked() else ", not checked without -X tlbc=0"
        first, last = self.first.traced_bytes / 1024, self.last.traced_bytes / 1024
        yield f"{'memory, first second':<58}{first:>12,.0f} KiB"
        yield f"{'memory, end':<58}{last:>12,.0f} KiB  {growth:+.1%}{unchecked}"
        yield f"{'resident set, first second':<58}{self.first.resident_kib:>12,} KiB"
        yield f"{'resident set, end':<58}{self.last.resident_kib:>12,} KiB"
        yield f"{'threads under load':<58}{self.threads:>12}"


_COUNTED = {
    "inferences": "inferences",
    "exceptions in a phase": "exceptions in a phase",
    "raises": "raise",
    "revisions": "revise",
    "lowerings": "lower",
    "lowerings by a sustain timer": "lowered by the timer",
    "losses": "lose",
    "native calls": "calls",
    "native calls that failed": "calls that failed",
    "faults asked for": "faults",
    "restarts of the subsystem (SSR), link rebuilt": "SSRs",
    "restarts of the subsystem (SSR), fatal": "fatal SSRs",
    "changes of the calls' delay": "changes of delay",
    "clock steps of an hour": "clock steps",
    "profile changes": "profile changes",
    "holds": "holds",
    "caps": "caps",
    "sessions closed and opened anew": "closes",
    "rests, for a sustain timer to lower alone": "rests",
    "subscribers that came and went": "subscribers",
    "events": "events",
}


def soak(seconds: float, seed: int) -> Result:
    """Run a soak, and return the result."""
    tally, before = Tally(), threading.enumerate()
    logger, log = logging.getLogger("htppower"), LogWatch(tally)
    logger.addHandler(log)
    tracemalloc.start()
    try:
        with freeze_time(_utc(), tick=True, ignore=NOT_STEPPED) as wall:
            result = _soak(seconds, seed, wall.tick, tally)
    finally:
        tracemalloc.stop()
        logger.removeHandler(log)
    checks.check_memory(result.first, result.last, tally)
    checks.check_threads(before, tally)
    return result


def _soak(seconds: float, seed: int, step: Callable[[datetime.timedelta], object], tally: Tally) -> Result:
    simulated, watch = SimulatedHtp(arch=75, cores=len(checks.CORES)), StateWatch(tally)
    turnstile = Turnstile(THREADS + 1)
    with VoteController(WatchedBackend(simulated, tally), handle_sigterm=False) as controller:
        controller.subscribe(OrderWatch(tally, gapless=True))
        controller.subscribe(OrderWatch(tally, gapless=False), (Transition,))
        controller.subscribe(watch)
        places = tuple(Place(controller, number) for number in range(SESSIONS))
        host, look_out = Host(places, tally, turnstile, seed), LookOut(places, tally)
        chaos = Chaos(controller, simulated, places, step, tally, turnstile, random.Random(seed))
        for part in (host, look_out, chaos):
            part.start()
        time.sleep(min(1.0, seconds / 2))
        threads = threading.active_count()
        first = _quiet_memory(controller, chaos, turnstile)
        time.sleep(max(0.0, seconds - 1.0, seconds / 2))
        last = _quiet_memory(controller, chaos, turnstile)
        host.stop()
        chaos.stop()
        checks.check_comes_down(controller, tally)
        look_out.stop()
        checks.check_events(controller, tally)
    checks.check_matched(watch, tally)
    checks.check_nothing_voted(simulated, tally)
    return Result(tally, first, last, threads)


def _quiet_memory(controller: VoteController, chaos: Chaos, turnstile: Turnstile) -> Memory:
    with turnstile.held():
        chaos.calm()
        controller.flush_events()
        return memory.in_use()


def _utc() -> datetime.datetime:
    return datetime.datetime.now(tz=datetime.timezone.utc)


def main() -> int:
    """Run it from the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description="Soak the vote controller in faults.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, from 1; 60 unless told")
    parser.add_argument("--seed", type=int, default=None, help="of what each thread does; random unless told")
    given = parser.parse_args()
    if given.seconds < 1:
        parser.error(f"--seconds is {given.seconds}: 1 or more")
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}, {given.seconds:g} s, {SESSIONS} sessions, {THREADS} threads", flush=True)
    result = soak(given.seconds, seed)
    print("\n".join(result.lines()))
    for breach in result.tally.breaches:
        print(f"BROKEN {breach}")
    print("broken" if result.tally.breaches else "nothing broke")
    return 1 if result.tally.breaches else 0


if __name__ == "__main__":
    sys.exit(main())

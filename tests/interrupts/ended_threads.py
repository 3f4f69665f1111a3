"""End the controller's own threads: ``python tests/interrupts/ended_threads.py [--rounds N] [--seed N]``.

An exception that ``PyThreadState_SetAsyncExc`` raises on a thread of the controller's ends it, whatever it does. In
each round two sessions are used in real time, and every thread that is not of this program is ended at a random moment.
Then votes must come down all the same. The exit code is 1 where a round leaves a session up.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import threading
import time
import weakref
from pathlib import Path

if __name__ == "__main__":
    # The controller of this checkout, whatever is installed.
    sys.path[:1] = [str(Path(__file__).resolve().parents[2])]

from htppower import Session, State, VoteController
from htppower.backends import SimulatedHtp

# A busy machine may delay a lowering.
SETTLED_S = 60.0
SUSTAIN_S = 0.3
# A thread that was seen so long ago has begun.
BEGUN_S = 0.05


class Striker:
    """Ends the threads that are not of this program, once each, when they have begun for certain.

    One that is hit in its first instructions, or again as it is being replaced, is lost.
    """

    def __init__(self) -> None:
        self._mine = {*threading.enumerate()}
        self._since_s: dict[threading.Thread, float] = {}
        self._struck: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self.ended = 0

    def strike(self) -> None:
        """Raise SystemExit on each, as soon as it runs anything."""
        now_s = time.monotonic()
        threads = {*threading.enumerate()} - self._mine
        self._since_s = {thread: self._since_s.get(thread, now_s) for thread in threads}
        for thread, since_s in self._since_s.items():
            if now_s - since_s >= BEGUN_S and thread not in self._struck:
                self._struck.add(thread)
                identity = ctypes.c_ulong(thread.ident or 0)
                self.ended += ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(SystemExit))


def come_down(sessions: list[Session]) -> bool:
    """Return whether sessions that nobody uses are LOWERED in time."""
    end_s = time.monotonic() + SETTLED_S
    while time.monotonic() < end_s:
        if all(session.state is State.LOWERED for session in sessions):
            return True
        time.sleep(0.005)
    return False


def run(rounds: int, seed: int, most_strikes: int) -> int:
    """Run so many rounds, with up to so many strikes in each; return how many threads were ended, or raise."""
    chance = random.Random(seed)
    striker = Striker()
    controller = VoteController(SimulatedHtp(arch=75, cores=2), handle_sigterm=False)
    sessions = [controller.session(name, core_ids=(core,)) for core, name in enumerate(("burst", "burst"))]
    for number in range(rounds):
        for session in sessions:
            with session.inference():
                pass
        for _ in range(chance.randint(1, most_strikes)):
            time.sleep(chance.choice((0.0, chance.uniform(0, 0.002), chance.uniform(0, 1.1 * SUSTAIN_S))))
            striker.strike()
        if not come_down(sessions):
            raise RuntimeError(f"round {number} of seed {seed} leaves {sessions} up")
    controller.close()
    if any(session.state is not State.DESTROYED for session in sessions):
        raise RuntimeError(f"after closing there are {sessions}")
    return striker.ended


def main() -> int:
    """Run it from the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description="End the controller's own threads in real time.")
    parser.add_argument("--rounds", type=int, default=100, help="how many; 100 unless told")
    parser.add_argument("--seed", type=int, default=0, help="of the moments; 0 unless told")
    parser.add_argument("--strikes", type=int, default=1, help="how many at most in a round; 1 unless told")
    given = parser.parse_args()
    if min(given.rounds, given.strikes) < 1:
        parser.error("there is nothing to do: give 1 or more")
    try:
        ended = run(given.rounds, given.seed, given.strikes)
    except RuntimeError as error:
        print(f"BROKEN {error}")
        return 1
    print(f"{given.rounds} rounds, {ended} threads ended: all came down")
    return 0


if __name__ == "__main__":
    sys.exit(main())

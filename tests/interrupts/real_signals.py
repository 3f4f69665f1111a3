"""Real interrupts in a real process: ``python tests/interrupts/real_signals.py [--seconds S] [--seed N]``.

The main thread uses sessions in real time, while the process is sent SIGINT at random moments; another thread does
the same, and is interrupted by ``PyThreadState_SetAsyncExc`` where that is asked for; a third is busy with a session
of its own. In the end it is looked at what stays up, is held, or is counted wrong. The exit code is 1 where something
is.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import logging
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    TESTS = Path(__file__).resolve().parents[1]
    sys.path[:1] = [str(TESTS), str(TESTS / "support")]

from bench import DISABLE, MAX_CORNER, SVS
from interrupts.locks_made import LOCKS, note_locks

from htppower import State, VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower import Session

# Beyond the longest back-off, on a machine that is busy with other things.
SETTLED_S = 30.0


class Interrupted(BaseException):
    """What is raised in the thread that is no main thread."""


class Target:
    """A thread that uses a session, and may be interrupted while it does.

    Attributes:
        came: how many interrupts came.
        wrong: what was raised besides.
        inside: whether it uses the session just now.
    """

    def __init__(self, session: Session, controller: VoteController, chance: random.Random) -> None:
        self.came = 0
        self.wrong: list[str] = []
        self.inside = False
        self._session = session
        self._controller = controller
        self._actions: tuple[Callable[[], None], ...] = (self._infer,) * 4 + (self._hold, self._init, self._open)
        self._chance = chance

    def run(self, end_s: float, kind: type[BaseException]) -> None:
        """Use the session until then."""
        while time.monotonic() < end_s:
            action = self._chance.choice(self._actions)
            try:
                try:
                    self.inside = True
                    action()
                finally:
                    self.inside = False
            except kind:
                self.inside = False
                self.came += 1
            except Exception as error:  # noqa: BLE001 - nothing else may be raised
                self.wrong.append(repr(error))

    def _infer(self) -> None:
        with self._session.inference():
            pass

    def _hold(self) -> None:
        with self._session.hold("balanced", reason="a test"):
            self._infer()

    def _init(self) -> None:
        with self._session.init(), self._session.inference():
            pass

    def _open(self) -> None:
        with self._controller.session("balanced") as other, other.inference():
            pass


def strike(
    main: Target, other: Target, identity: int, end_s: float, chance: random.Random, *, given_async: bool
) -> None:
    """Interrupt both until then."""
    kind = ctypes.py_object(Interrupted)
    while time.monotonic() < end_s:
        time.sleep(chance.uniform(0, 0.003))
        if main.inside:
            os.kill(os.getpid(), signal.SIGINT)
        if given_async and other.inside:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(identity), kind)


def broken(controller: VoteController, htp: SimulatedHtp, kept: list[Session]) -> Iterator[str]:
    """Yield what does not hold, once nobody uses anything any more; close the controller."""
    end_s = time.monotonic() + SETTLED_S
    while time.monotonic() < end_s and any(_wrong(controller, htp)):
        gc.collect()
        time.sleep(0.05)
    yield from _wrong(controller, htp)
    for session in kept:
        with session.inference():
            if session.state is not State.RAISED or htp.effective().core_target != MAX_CORNER:
                yield f"{session} is not raised in an inference"
    controller.close()
    clocks = htp.effective()
    if clocks.core_target != DISABLE or clocks.rpc_polling_time_us:
        yield f"after closing, {clocks} is in force"
    if any(client.has_hvx_vote for client in htp._clients.values()):
        yield "after closing, an id has votes"


def _wrong(controller: VoteController, htp: SimulatedHtp) -> Iterator[str]:
    for each in controller.status().sessions:
        if each.in_flight or each.state in (State.RAISED, State.UNKNOWN):
            yield f"session {each.number} is {each.state} with {each.in_flight} in flight"
        if each.holds:
            yield f"session {each.number} is held by {each.holds}"
    for rank, lock in LOCKS:
        if not lock.acquire(blocking=False):
            yield f"a lock {rank} is held"
        else:
            lock.release()
    clocks = htp.effective()
    if clocks.core_target > SVS or clocks.rpc_polling_time_us:
        yield f"votes stay up: {clocks.core_target}, polling {clocks.rpc_polling_time_us} us"


def main() -> int:
    """Interrupt for a while, and look; return the exit code."""
    parser = argparse.ArgumentParser(description="Interrupt a process that uses a controller.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long; 60 unless told")
    parser.add_argument("--seed", type=int, default=None, help="draws what is done and when it is interrupted")
    # In CPython 3.11 an exception for a thread that is just starting another one hits that one, which then never runs.
    parser.add_argument("--async-exc", action="store_true", help="also by PyThreadState_SetAsyncExc")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    logging.disable()
    note_locks()
    htp = SimulatedHtp(arch=75)
    controller = VoteController(htp)
    kept = [controller.session(profile) for profile in ("burst", "high_performance", "burst")]
    kept[1].use("burst")
    targets = [Target(kept[place], controller, random.Random(f"{seed} {place}")) for place in range(3)]

    def handle(_number: int, _frame: object) -> None:
        if targets[0].inside:
            targets[0].inside = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    end_s = time.monotonic() + given.seconds
    threads = [threading.Thread(target=each.run, args=(end_s, Interrupted), daemon=True) for each in targets[1:]]
    for thread in threads:
        thread.start()
    striking = random.Random(f"{seed} strikes")
    threads.append(
        threading.Thread(
            target=strike,
            args=(targets[0], targets[1], threads[0].ident, end_s, striking),
            kwargs={"given_async": given.async_exc},
            daemon=True,
        )
    )
    threads[-1].start()
    targets[0].run(end_s, KeyboardInterrupt)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for thread in threads:
        thread.join(SETTLED_S)
    found = [f"{thread} hangs" for thread in threads if thread.is_alive()]
    found += [wrong for each in targets for wrong in each.wrong]
    found += broken(controller, htp, kept)
    for each in found:
        print(f"BROKEN {each}")
    print(f"{targets[0].came} signals, {targets[1].came} asynchronous exceptions, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

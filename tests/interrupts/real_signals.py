"""Real interrupts in a real process: ``python tests/interrupts/real_signals.py [--seconds S]``.

The main thread uses a session in real time, and the process gets SIGINT at random moments. Two other threads use
sessions of their own. The exit code is 1 if a vote or a hold is left, or a count is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
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
    sys.path[:1] = [str(TESTS)]

from support.bench import SVS
from support.inside import engine_of, is_free

from htppower import State, VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Session

# Longer than the longest back-off, even on a busy machine.
SETTLED_S = 30.0


class Target:
    """A thread that uses a session; whether it may be interrupted, how often it was, and its other exceptions."""

    def __init__(self, session: Session, controller: VoteController) -> None:
        self.came, self.inside = 0, False
        self.wrong: list[str] = []
        self._session, self._controller = session, controller

    def run(self, end_s: float) -> None:
        """Use the session until the given time."""
        while time.monotonic() < end_s:
            try:
                try:
                    self.inside = True
                    self._act(random.randrange(6))
                finally:
                    self.inside = False
            except KeyboardInterrupt:
                self.inside = False
                self.came += 1
            except Exception as error:  # noqa: BLE001 - nothing else may be raised
                self.wrong.append(repr(error))

    def _act(self, number: int) -> None:
        session = self._session
        with contextlib.ExitStack() as stack:
            if number == 0:
                stack.enter_context(session.hold("balanced", reason="a test"))
            elif number == 1:
                stack.enter_context(session.init())
            elif number == 2:
                session = stack.enter_context(self._controller.session("balanced"))
            stack.enter_context(session.inference())


def strike(target: Target, end_s: float) -> None:
    """Interrupt the main thread until the given time."""
    while time.monotonic() < end_s:
        time.sleep(random.uniform(0, 0.003))
        if target.inside:
            os.kill(os.getpid(), signal.SIGINT)


def wrong(controller: VoteController, htp: SimulatedHtp, kept: list[Session]) -> Iterator[str]:
    """Yield a text for each mistake, while no session is in use."""
    status, clocks = controller.status(), htp.effective()
    for each in status.sessions:
        if each.in_flight or each.holds or each.state is not State.LOWERED:
            yield f"session {each.number} is {each.state} with {each.in_flight} in flight, held by {each.holds}"
    if len(status.sessions) > len(kept) or status.orphans or not is_free(engine_of(controller).line):
        yield f"{len(status.sessions)} sessions are open, {status.orphans} are left, or the line is held"
    if clocks.core_target > SVS or clocks.rpc_polling_time_us:
        yield f"votes stay up: {clocks.core_target}, polling {clocks.rpc_polling_time_us} us"


def main() -> int:
    """Interrupt for some time, and check the result; return the exit code."""
    parser = argparse.ArgumentParser(description="Interrupt a process that uses a controller.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long; 60 unless told")
    given = parser.parse_args()
    logging.disable()
    htp = SimulatedHtp(arch=75)
    controller = VoteController(htp)
    kept = [controller.session(profile) for profile in ("burst", "burst", "high_performance")]
    targets = [Target(session, controller) for session in kept]

    def handle(_number: int, _frame: object) -> None:
        if targets[0].inside:
            targets[0].inside = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    end_s = time.monotonic() + given.seconds
    threads = [threading.Thread(target=each.run, args=(end_s,), daemon=True) for each in targets[1:]]
    threads.append(threading.Thread(target=strike, args=(targets[0], end_s), daemon=True))
    for thread in threads:
        thread.start()
    targets[0].run(end_s)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for thread in threads:
        thread.join(SETTLED_S)
    gc.collect()
    end_s = time.monotonic() + SETTLED_S
    while time.monotonic() < end_s and [*wrong(controller, htp, kept)]:
        time.sleep(0.1)
    found = [each for target in targets for each in target.wrong] + [*wrong(controller, htp, kept)]
    controller.close()
    if htp.power_config_ids or htp.effective().rpc_polling_time_us:
        found.append(f"after closing, {htp.power_config_ids} and {htp.effective()} are left")
    for each in found:
        print(f"BROKEN {each}")
    print(f"{targets[0].came} signals, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

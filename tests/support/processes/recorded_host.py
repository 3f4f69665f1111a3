"""A host whose inferences are recorded, as a process of its own: ``recorded_host.py FILE ENDING``.

It runs some inferences and ends; with ``killed`` it runs them until it is killed, or its parent is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.control import termination
from htppower.control.recording import recorder

if TYPE_CHECKING:
    from htppower import Session

COUNT = 50


def infer(session: Session, count: int) -> None:
    """Run inferences."""
    for _ in range(count):
        with session.inference():
            pass


def infer_until_killed(path: str) -> None:
    """Run inferences on two threads, written all the time to files that are soon full."""
    parent = os.getppid()
    recorder.PERIOD_US = 1_000
    controller = VoteController(SimulatedHtp(arch=75))
    controller.record(path, most_bytes=100_000, files=3)
    sessions = [controller.session("burst", owner=f"thread {number}") for number in range(2)]

    def work(session: Session) -> None:
        while os.getppid() == parent:
            infer(session, 1)

    threading.Thread(target=work, args=(sessions[0],), daemon=True).start()
    work(sessions[1])


def fork_and_infer(controller: VoteController, session: Session) -> None:
    """Let a child infer and close what it has inherited, then go on."""
    child = os.fork()
    if child == 0:
        infer(session, COUNT)
        controller.close()
        os._exit(0)
    os.waitpid(child, 0)
    infer(session, COUNT)


def main() -> None:
    """Infer, and end."""
    path, ending = sys.argv[1:]
    if ending == "killed":
        infer_until_killed(path)
    termination.EXIT_TIMEOUT_S = 0.5
    htp = SimulatedHtp(arch=75)
    controller = VoteController(htp)
    session = controller.session("burst")
    controller.record(path)
    infer(session, COUNT)
    if ending == "fork":
        fork_and_infer(controller, session)
    if ending == "hang":
        htp.delay_calls(60_000_000)
    if ending == "signal":
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()
    if ending == "interrupt":
        signal.raise_signal(signal.SIGINT)
    sys.exit(3)


if __name__ == "__main__":
    main()

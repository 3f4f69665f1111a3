"""A small inference host in a process of its own. Each native call is written as a line to a file at once.

Arguments: the file, and how the process ends.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control import termination

if TYPE_CHECKING:
    from htppower import Session
    from htppower.votes.vote_set import VoteSet


class FileRecorder(RecordingBackend):
    """Writes pid, function, id and core target of every call at once, so that none is lost when the process ends."""

    def __init__(self, path: Path) -> None:
        super().__init__(SimulatedHtp(arch=75))
        self._path = path

    def _write(self, *words: object) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(" ".join(map(str, (os.getpid(), *words))) + "\n")

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create, and write."""
        created = super().create_power_config_id(device_id, core_id)
        self._write("createPowerConfigId", created)
        return created

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set, and write."""
        super().set_power_config(power_config_id, votes)
        dcvs, polling = self.calls[-1].config("DCVS_V3"), self.calls[-1].config("RPC_POLLING_TIME")
        target = dcvs.fields["coreVoltageCornerTarget"] if dcvs else "-"
        self._write(
            "setPowerConfig", power_config_id, target, polling.fields["rpcPollingTimeConfig"] if polling else "-"
        )

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy, and write."""
        super().destroy_power_config_id(power_config_id)
        self._write("destroyPowerConfigId", power_config_id)


def main(path: Path, ending: str) -> None:
    """Raise burst, then end as requested."""
    if ending == "sigint":
        # A shell starts background processes with SIGINT ignored, and then Python does not handle it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if ending == "own handler":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    recorder = FileRecorder(path)
    controller = VoteController(recorder)
    if "hangs" in ending:
        hang(recorder, controller, ending)
        return
    session = controller.session("burst")
    if ending == "exit in window":
        with session.inference():
            pass
        sys.exit(3)
    if ending == "main returns":
        threading.Thread(target=outlive_main, args=(session,)).start()
        return
    if ending == "fork":
        fork(session)
        controller.close()
        return
    with session.inference():
        infer(recorder, session, ending)


def infer(recorder: FileRecorder, session: Session, ending: str) -> None:
    """Be in an inference when the process ends."""
    if ending == "exception":
        raise RuntimeError("mine")
    if ending == "worker threads":
        for _ in range(4):
            threading.Thread(target=infer_forever, args=(session,)).start()
    if ending.startswith("slow") and isinstance(recorder.inner, SimulatedHtp):
        recorder.inner.delay_calls(10_000_000 if ending == "slow for long" else 300_000)
    if ending == "sigterm to itself":
        os.kill(os.getpid(), signal.SIGTERM)
    if ending != "exit in inference":
        print("ready", flush=True)  # noqa: T201 - told to the test
        # In short sleeps: a signal that arrives just before a sleep begins is handled when the sleep ends.
        for _ in range(600):
            time.sleep(0.1)


def infer_forever(session: Session) -> None:
    """Run inferences without end, on a thread that is never joined."""
    while True:
        with session.inference():
            time.sleep(0.0001)


def hang(recorder: FileRecorder, controller: VoteController, ending: str) -> None:
    """End while a native call hangs; the call began before, or begins during the end."""
    assert isinstance(recorder.inner, SimulatedHtp)
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    termination.EXIT_TIMEOUT_S = 0.5
    other, session = controller.session("burst"), controller.session("balanced")
    with other.inference():
        if ending == "hangs before":
            recorder.inner.delay_calls(60_000_000, "setPowerConfig")
            threading.Thread(target=infer_forever, args=(session,), daemon=True).start()
            while not session.in_flight:
                time.sleep(0.001)
            time.sleep(0.1)
            recorder.inner.delay_calls(0)
    if ending == "hangs at the end":
        recorder.inner.delay_calls(60_000_000, "destroyPowerConfigId")


def outlive_main(session: Session) -> None:
    """Run an inference after the main thread has ended, and wait for the votes to be lowered."""
    threading.main_thread().join()
    with session.inference():
        pass
    for _ in range(500):
        if session.state == "LOWERED":
            break
        time.sleep(0.01)
    print(session.state, flush=True)  # noqa: T201 - told to the test


def fork(session: Session) -> None:
    """Use and close the parent's session in a child, then go on in the parent."""
    with session.inference():
        child = os.fork()
        if child == 0:
            with session.inference():
                pass
            with session.init():
                pass
            session.use("balanced")
            session.close()
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print("child", os.waitstatus_to_exitcode(status), session.state, flush=True)  # noqa: T201
    with session.inference():
        pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

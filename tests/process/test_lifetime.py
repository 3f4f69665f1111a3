"""The ends of a process, with real processes: each leaves no vote."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from support.checkout import TESTS

from htppower.control.termination import TOGETHER_S

if TYPE_CHECKING:
    from pathlib import Path

HOST = TESTS / "support" / "processes" / "host.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX signals and fork")


def _start(tmp_path: Path, ending: str) -> tuple[subprocess.Popen[str], Path]:
    calls = tmp_path / "calls"
    process = subprocess.Popen(
        [sys.executable, str(HOST), str(calls), ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, calls


def _ready(tmp_path: Path, ending: str) -> tuple[subprocess.Popen[str], Path]:
    """Start a host, and wait until its inference runs."""
    process, calls = _start(tmp_path, ending)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process, calls


def _assert_lowered_and_destroyed(calls: Path) -> None:
    lines = [line.split()[1:] for line in calls.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == ["createPowerConfigId", "1"]
    assert lines[1:3] == [["setPowerConfig", "1", "160", "-"], ["setPowerConfig", "1", "-", "9999"]]
    assert lines[-3:-1] == [["setPowerConfig", "1", "64", "-"], ["setPowerConfig", "1", "-", "0"]]
    assert lines[-1] == ["destroyPowerConfigId", "1"]


@pytest.mark.parametrize(("ending", "code"), [("exit in window", 3), ("exit in inference", 0), ("exception", 1)])
def test_an_interpreter_exit_lowers_and_destroys(tmp_path: Path, ending: str, code: int) -> None:
    """``sys.exit``, the end of the program and an uncaught exception lower the votes and destroy the IDs."""
    process, calls = _start(tmp_path, ending)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    _assert_lowered_and_destroyed(calls)


def test_an_exit_gives_up_on_a_call_that_hangs(tmp_path: Path) -> None:
    """The message names the sessions and the hanging call, and no other call is made."""
    process, calls = _start(tmp_path, "hangs before")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "votes may stay up: not closed within 0.5 s: sessions 1, 2; setPowerConfig on power config id 2" in errors
    assert "destroyPowerConfigId" not in calls.read_text(encoding="utf-8")


def test_an_exit_gives_up_on_a_call_that_begins_to_hang_in_it(tmp_path: Path) -> None:
    """If the DSP dies during the exit, a call of the exit itself may hang."""
    process, _ = _start(tmp_path, "hangs at the end")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "votes may stay up: not closed within 0.5 s" in errors


@pytest.mark.parametrize(
    ("ending", "number"), [("sigterm", "SIGTERM"), ("worker threads", "SIGTERM"), ("sigterm", "SIGHUP")]
)
def test_a_signal_lowers_and_destroys_and_the_process_dies_of_it(tmp_path: Path, ending: str, number: str) -> None:
    """SIGTERM or SIGHUP during an inference, also with busy threads, lowers and destroys, then ends as by default."""
    process, calls = _ready(tmp_path, ending)
    process.send_signal(getattr(signal, number))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, number), errors
    assert "Traceback" not in errors
    _assert_lowered_and_destroyed(calls)


_UNSHARED = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")


def test_the_first_process_of_a_container_ends_by_sigterm(tmp_path: Path) -> None:
    """The kernel ignores a signal that the first process sends to itself, so it exits once everything is lowered."""
    if shutil.which("unshare") is None or subprocess.run([*_UNSHARED, "true"], check=False).returncode:
        pytest.skip("no pid namespace can be made here")
    calls = tmp_path / "calls"
    command = [*_UNSHARED, sys.executable, str(HOST), str(calls), "sigterm to itself"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    _assert_lowered_and_destroyed(calls)


def test_a_hosts_own_sigterm_handler_stays(tmp_path: Path) -> None:
    """A host that handles SIGTERM itself keeps its handler, and its exit lowers and destroys."""
    process, calls = _ready(tmp_path, "own handler")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 7
    _assert_lowered_and_destroyed(calls)


def test_votes_are_lowered_on_time_after_the_main_thread_has_ended(tmp_path: Path) -> None:
    """A worker thread that outlives the main thread has its sustain time, and is lowered after it."""
    process, calls = _start(tmp_path, "main returns")
    output, errors = process.communicate(timeout=60)
    assert output == "LOWERED\n", errors
    assert errors == ""
    lines = calls.read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in lines] == [
        "createPowerConfigId",
        *["setPowerConfig"] * 4,
        "destroyPowerConfigId",
    ]


def test_two_sigterm_together_are_one(tmp_path: Path) -> None:
    """A second SIGTERM during the first, as from a supervisor and a wrapper, does not cut it short."""
    process, calls = _ready(tmp_path, "slow")
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    _assert_lowered_and_destroyed(calls)


_TWO = """
import os, signal, subprocess, sys, time
from htppower import VoteController
from htppower.backends import SimulatedHtp
class Telling(SimulatedHtp):
    def destroy_power_config_id(self, power_config_id):
        super().destroy_power_config_id(power_config_id)
        print("left", simulated.index(self), len(self.power_config_ids), flush=True)
simulated = [Telling(75) for _ in range(2)]
controllers = [VoteController(each, on_error="raise") for each in simulated]
sessions = [controller.session("burst") for controller in controllers]
running = [session.inference() for session in sessions]
for inference in running:
    inference.__enter__()
for each in simulated:
    each.delay_calls(200_000)
    each.fail_next(13006, "setPowerConfig", times=9)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(0.1)
child = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
ignored = next(int(line.split()[1], 16) for line in child.splitlines() if line.startswith("SigIgn"))
forked = os.fork()
if forked == 0:
    os._exit(0 if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL else 1)
print("ignored in a child", ignored >> signal.SIGTERM - 1 & 1, os.waitpid(forked, 0)[1], flush=True)
time.sleep(60)
"""


def test_every_controller_is_closed_on_sigterm() -> None:
    """If one controller raises, the other is still closed; a child process started then does not ignore SIGTERM."""
    done = subprocess.run([sys.executable, "-c", _TWO], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGTERM, done.stderr
    assert {"ignored in a child 0 0", "left 0 0", "left 1 0"} <= set(done.stdout.splitlines())


def test_a_later_sigterm_kills_at_once(tmp_path: Path) -> None:
    """If a native call does not return, a second SIGTERM some time after the first kills the process."""
    process, _ = _ready(tmp_path, "slow for long")
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(TOGETHER_S + 0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


def test_ctrl_c_lowers_and_destroys(tmp_path: Path) -> None:
    """SIGINT raises KeyboardInterrupt in the inference, and the votes are lowered on the way out."""
    process, calls = _ready(tmp_path, "sigint")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    _assert_lowered_and_destroyed(calls)


def test_a_forked_child_casts_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    """A child that uses and closes the parent's session makes no call, and the parent's votes stay."""
    process, calls = _start(tmp_path, "fork")
    output, errors = process.communicate(timeout=60)
    assert output == "child 0 RAISED\n", errors
    pids = {line.split()[0] for line in calls.read_text(encoding="utf-8").splitlines()}
    assert pids == {str(process.pid)}
    _assert_lowered_and_destroyed(calls)


_FORKED_WORKER = """
import multiprocessing
import multiprocessing.util
from htppower import VoteController
from htppower.backends import SimulatedHtp

class Telling(SimulatedHtp):
    def destroy_power_config_id(self, power_config_id):
        print("destroyed", flush=True)
        return super().destroy_power_config_id(power_config_id)

def work():
    global kept
    controller = kept = VoteController(Telling())
    with controller.session("burst").inference():
        pass
    multiprocessing.util.Finalize(None, controller.close, exitpriority=0)

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
"""


def test_a_forked_worker_of_multiprocessing_closes_as_documented() -> None:
    """Up to Python 3.12 it ends without an interpreter exit; the line in docs/embedding.md closes its controller."""
    command = [sys.executable, "-c", _FORKED_WORKER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "destroyed\n", done.stderr

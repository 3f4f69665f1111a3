"""A recording of a real process loses inferences only by SIGKILL, which can cut only the last line."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.checkout import TESTS
from support.hanging import WAIT_S, until

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.control.files.new_file import write_all
from htppower.control.recording import trace_files

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from htppower import Session

HOST = TESTS / "support" / "processes" / "recorded_host.py"
COUNT = 50

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX signals and fork")


def _started(path: Path, ending: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HOST), str(path), ending], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _inferences(path: Path) -> list[dict[str, Any]]:
    """Return the inferences in a file; all lines are complete, except perhaps the last."""
    whole = path.read_text(encoding="ascii").rpartition("\n")[0]
    bracket, *lines = whole.splitlines()
    first, *events = [json.loads(line.removesuffix(",")) for line in lines]
    assert (bracket, first["name"]) == ("[", "htppower")
    return [event for event in events if event["name"] == "inference"]


def _is_of(path: Path, pid: int) -> bool:
    try:
        return f'"pid":{pid}' in path.read_text(encoding="ascii")
    except FileNotFoundError:
        return False  # The file is not there yet, or is being replaced.


@pytest.mark.parametrize(
    ("ending", "code", "count"),
    [
        ("exit", 3, COUNT),
        ("signal", -signal.SIGTERM, COUNT),
        ("interrupt", -signal.SIGINT, COUNT),
        ("hang", 3, COUNT),
        ("fork", 3, 2 * COUNT),
    ],
)
def test_all_inferences_are_written_at_the_end_of_a_process(tmp_path: Path, ending: str, code: int, count: int) -> None:
    """At sys.exit, SIGTERM and Ctrl-C, also if a native call hangs; a forked child writes nothing."""
    path = tmp_path / "trace.json"
    process = _started(path, ending)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert len(_inferences(path)) == count
    assert {each["pid"] for each in _inferences(path)} == {process.pid}
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_is_killed_leaves_whole_lines(tmp_path: Path) -> None:
    """Only the last line of the newest file may be cut, and no file is too large.

    While the process runs, another process is refused the file, and may use it afterwards.
    """
    path = tmp_path / "trace.json"
    files = [tmp_path / f"trace.json{end}" for end in (".2", ".1", "")]
    for wait_s in (0.0, 0.02):
        process = _started(path, "killed")
        try:
            until(functools.partial(_is_of, files[0], process.pid))
            other = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
            with other, pytest.raises(ValueError, match="another controller"):
                other.record(path)
            time.sleep(wait_s)
        finally:
            process.kill()
            process.communicate(timeout=60)
        # A process that is killed during a rotation leaves the path without a file.
        left = [file for file in files if file.exists()]
        assert len(left) >= 2
        assert all(file.stat().st_size <= 100_000 for file in left)
        made = [each for file in left for each in _inferences(file)]
        for number in (1, 2):
            times = [time for each in made if each["tid"] == number for time in (each["ts"], each["ts"] + each["dur"])]
            assert times == sorted(times)
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as after:
        after.record(path)
    assert _inferences(path) == []


def test_a_disk_that_hangs_delays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In real time, inferences go on during a slow write, and closing waits 1 s at most."""
    monkeypatch.setattr("htppower.control.recording.recorder.PERIOD_US", 1_000)
    reached, free = threading.Event(), threading.Event()

    def hang(file: FileIO, data: bytes) -> None:
        reached.set()
        assert free.wait(WAIT_S)
        write_all(file, data)

    path = tmp_path / "trace.json"
    controller = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
    session = controller.session("burst")
    recording = controller.record(path)
    monkeypatch.setattr(trace_files, "write_all", hang)
    with session.inference():
        pass
    assert reached.wait(WAIT_S)
    for _ in range(COUNT):
        with session.inference():
            pass
    controller.close()
    assert recording.closed
    free.set()
    until(lambda: len(_inferences(path)) == COUNT + 1)


def test_it_is_written_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In real time, from many threads and sessions, each inference is written once, without a flush."""
    monkeypatch.setattr("htppower.control.recording.recorder.PERIOD_US", 20_000)
    path = tmp_path / "trace.json"
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller:
        sessions = [controller.session("burst") for _ in range(4)]
        recording = controller.record(path)

        def work(session: Session) -> None:
            for _ in range(500):
                with session.inference():
                    pass

        threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        until(lambda: len(_inferences(path)) == 2000)
        with sessions[0].inference():
            pass
        assert recording.flush(WAIT_S)
        assert len(_inferences(path)) == 2001
    assert recording.lost == 0

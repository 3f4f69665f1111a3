"""``htppower status`` of a process that runs, ends well, or is killed."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.terminal import CTRL_C, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.command import Command


HOST = """
import sys
from htppower import VoteController
controller = VoteController("simulated")
session = controller.session("burst", owner="camera")
with session.inference():
    with controller.serve_status(sys.argv[1]):
        print("served", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that serves its status in ``status.json``; it ends when its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path / "status.json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "served\n"
        yield process
        process.kill()


def test_the_life_of_a_process(host: subprocess.Popen[str], command: Command, tmp_path: Path) -> None:
    """The command says that the process runs, and after SIGKILL that it is gone, before and after it is reaped."""
    path = str(tmp_path / "status.json")
    text = command.output("status", path)
    assert f"by process {host.pid}, which is running" in text
    assert "rpc_polling_time_us: 9999, held by session 1 (camera)" in text
    os.kill(host.pid, signal.SIGKILL)
    os.waitid(os.P_PID, host.pid, os.WEXITED | os.WNOWAIT)
    gone = f"process {host.pid} is gone: this is what it wrote last"
    assert gone in command.output("status", path)
    host.wait()
    assert gone in command.output("status", path)
    assert "RAISED" in command.output("status", path)


def test_a_process_that_ends_well_closes_its_status(
    host: subprocess.Popen[str], command: Command, tmp_path: Path
) -> None:
    """The status is closed, and the process is not reported as gone."""
    host.communicate("")
    assert f"closed: this is what process {host.pid} wrote last" in command.output(
        "status", str(tmp_path / "status.json")
    ).replace("\n" + 13 * " ", " ")


def test_watching_in_a_terminal(host: subprocess.Popen[str], tmp_path: Path) -> None:
    """The screen shows the process live, then that it is gone; Ctrl-C exits with 130."""
    command = [sys.executable, "-m", "htppower", "status", str(tmp_path / "status.json"), "--watch"]
    terminal = Terminal(command, {**os.environ, "COLUMNS": "80", "LINES": "50"})
    terminal.until(lambda: b"which is running" in terminal.read())
    host.kill()
    host.wait()
    terminal.until(lambda: b"is gone" in terminal.read())
    terminal.press(CTRL_C)
    assert terminal.wait() == 130
    assert b"Traceback" not in terminal.output


def test_leaving_a_watched_terminal_restores_it(host: subprocess.Popen[str], tmp_path: Path) -> None:
    """Q exits with 0; the terminal's line mode, echo and cursor are restored."""
    shell = "stty -g; {0} -m htppower status {1} --watch; echo code $?; stty -g"
    path = shlex.quote(str(tmp_path / "status.json"))
    command = ["/bin/sh", "-c", shell.format(shlex.quote(sys.executable), path)]
    terminal = Terminal(command, {**os.environ, "COLUMNS": "40", "LINES": "12"})
    terminal.until(lambda: b"written" in terminal.read())
    terminal.press(b"\x1b[6~q")
    assert terminal.wait() == 0
    before, *_, after = terminal.output.decode().replace("\r", "").strip().split("\n")
    assert b"code 0" in terminal.output
    assert before == after
    assert terminal.output.index(b"\x1b[?1049h") < terminal.output.index(b"\x1b[?25h\x1b[?1049l")
    assert host.poll() is None


def test_a_command_under_a_profile_finds_that_raised_in_the_status(tmp_path: Path) -> None:
    """The status shows it at the command's first moment, since users look at it first."""
    htppower = [sys.executable, "-m", "htppower"]
    done = subprocess.run(
        [*htppower, "profile", "burst", "--backend", "simulated", "--", *htppower, "status"],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert re.search(r"RAISED .*burst|burst.* RAISED|state +RAISED", done.stdout), done.stdout

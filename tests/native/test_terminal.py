"""``htppower profile`` in a terminal: keys, stops, and unusual ways to start a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.live import EITHER, LONGEST_S, until
from support.standin import functions
from support.terminal import CTRL_C, CTRL_Z, Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from support.standin import Standin

HTPPOWER = [sys.executable, "-m", "htppower", "profile", "burst"]
# Prints every signal that it gets, and ends shortly after the first Ctrl-C.
COUNTS = """
import signal, sys, time
got = []
for name in ("SIGINT", "SIGTERM", "SIGCONT"):
    signal.signal(getattr(signal, name), lambda number, frame: got.append(signal.Signals(number).name))
print("READY", flush=True)
while not {"SIGINT", "SIGTERM"} & set(got):
    time.sleep(0.01)
time.sleep(0.3)
print("GOT", *got, flush=True)
sys.exit(7)
"""


def environment(standin: Standin) -> dict[str, str]:
    """Return the environment of the command."""
    return {**os.environ, **standin.environment, "HTPPOWER_QNN_LIBRARY": str(standin.path)}


def raised(standin: Standin) -> bool:
    """Return whether the profile is raised."""
    return bool(standin.sets) and standin.sets[-1].core_target == 160


def test_ctrl_c_reaches_the_command_once(standin: Standin) -> None:
    """A key of the terminal goes to the whole group: the command gets it once, and not twice."""
    terminal = Terminal([*HTPPOWER, "--", sys.executable, "-c", COUNTS], environment(standin))
    terminal.until(lambda: b"READY" in terminal.read())
    terminal.press(CTRL_C)
    assert terminal.wait() == 7
    assert b"GOT SIGINT\r\n" in terminal.output
    standin.assert_nothing_left()


def test_ctrl_c_while_the_library_starts(standin: Standin, tmp_path: Path) -> None:
    """Ctrl-C before the command starts ends the process: the command is not run."""
    standin.script("deviceCreate 1 1 0 1000000")
    ran = tmp_path / "ran"
    terminal = Terminal([*HTPPOWER, "--", "touch", str(ran)], environment(standin))
    terminal.until(lambda: "deviceFreePlatformInfo" in functions(standin.trace))
    terminal.press(CTRL_C)
    assert terminal.wait() == 128 + signal.SIGINT
    assert not ran.exists()
    standin.assert_nothing_left()


def test_ctrl_z_with_a_command(standin: Standin) -> None:
    """After Ctrl-Z both are stopped and no vote is left; when continued, both go on with votes raised."""
    terminal = Terminal([*HTPPOWER, "--", sys.executable, "-c", COUNTS], environment(standin))
    terminal.until(lambda: b"READY" in terminal.read())
    terminal.press(CTRL_Z)
    terminal.until(lambda: b"STOPPED" in terminal.read())
    standin.assert_nothing_left()
    assert not raised(standin)
    terminal.press(b"fg\n")
    terminal.until(lambda: raised(standin))
    terminal.press(CTRL_C)
    assert terminal.wait() == 7
    assert b"SIGCONT" in terminal.output
    standin.assert_nothing_left()


def test_ctrl_z_without_a_command(standin: Standin) -> None:
    """While the process is stopped no vote is left; it is raised again when the shell continues it."""
    terminal = Terminal(HTPPOWER, environment(standin))
    terminal.until(lambda: raised(standin))
    terminal.press(CTRL_Z)
    terminal.until(lambda: b"STOPPED" in terminal.read())
    standin.assert_nothing_left()
    terminal.press(b"fg\n")
    terminal.until(lambda: raised(standin))
    terminal.press(CTRL_C)
    assert terminal.wait() == 0
    standin.assert_nothing_left()


def test_a_vote_that_fails_after_a_stop_ends_no_command(standin: Standin) -> None:
    """If the votes fail after a stop, a message reports it, and the command continues."""
    terminal = Terminal([*HTPPOWER, "--", sys.executable, "-c", COUNTS], environment(standin))
    terminal.until(lambda: b"READY" in terminal.read())
    terminal.press(CTRL_Z)
    terminal.until(lambda: b"STOPPED" in terminal.read())
    standin.script("createPowerConfigId 1 1 13006 0")
    terminal.press(b"fg\n")
    terminal.until(lambda: b"the votes are unknown" in terminal.read())
    terminal.press(CTRL_C)
    assert terminal.wait() == 7
    standin.assert_nothing_left()


def test_a_background_job_that_reads_the_terminal(standin: Standin) -> None:
    """If the terminal stops the command because it reads in the background, no vote is left."""
    reads = "import os, sys; os.setpgid(0, 0) if len(sys.argv) > 1 else None; print('READY', flush=True); input()"
    # The whole job leaves the foreground first, like a job started with &.
    in_background = "import os, sys; os.tcsetpgrp(0, os.getppid()); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-c", f"import signal; signal.signal(signal.SIGTTOU, signal.SIG_IGN); {in_background}"]
    terminal = Terminal([*command, *HTPPOWER, "--", sys.executable, "-c", reads], environment(standin))
    terminal.until(lambda: b"STOPPED" in terminal.read())
    assert raised(standin) is False
    standin.assert_nothing_left()
    terminal.press(b"fg\n")
    terminal.until(lambda: raised(standin))
    terminal.press(b"a line\n")
    assert terminal.wait() == 0
    standin.assert_nothing_left()


def test_where_nobody_could_continue_it(standin: Standin) -> None:
    """Ctrl-Z in an orphaned group, which the kernel does not stop, leaves the process running and raised."""
    terminal = Terminal([*HTPPOWER, "--", sys.executable, "-c", COUNTS], environment(standin), orphaned=True)
    terminal.until(lambda: b"READY" in terminal.read())
    before = len(standin.sets)
    terminal.press(CTRL_Z)
    terminal.until(lambda: len(standin.sets) >= before + 2 and raised(standin))
    terminal.press(CTRL_C)
    assert terminal.wait() == 7
    standin.assert_nothing_left()


def test_a_terminal_that_goes_away(standin: Standin, tmp_path: Path) -> None:
    """Only the leader of the session gets a hangup: it passes the hangup to the command, and no vote is left."""
    heard = tmp_path / "heard"
    script = (
        "import pathlib, signal, sys, time\n"
        "def hear(*_): pathlib.Path(sys.argv[1]).touch(); sys.exit(0)\n"
        "signal.signal(signal.SIGHUP, hear)\n"
        "print('READY', flush=True)\n"
        "for _ in range(3000): time.sleep(0.01)\n"
    )
    words = [*HTPPOWER, "--", sys.executable, "-c", script, str(heard)]
    terminal = Terminal(words, environment(standin), orphaned=True)
    terminal.until(lambda: b"READY" in terminal.read())
    terminal.hang_up()
    terminal.until(lambda: functions(standin.trace)[-1] == "logFree")
    terminal.until(heard.exists)
    standin.assert_nothing_left()


def test_a_command_with_a_group_of_its_own(standin: Standin) -> None:
    """A command that has left the foreground group does not get the terminal's keys, so they are passed on."""
    words = [*HTPPOWER, "--", sys.executable, "-c", f"import os; os.setpgid(0, 0)\n{COUNTS}"]
    terminal = Terminal(words, environment(standin))
    terminal.until(lambda: b"READY" in terminal.read())
    terminal.press(CTRL_C)
    assert terminal.wait() == 7
    standin.assert_nothing_left()


@EITHER
def test_an_ignored_sigchld_hides_no_end(standin: Standin, htppower: list[str]) -> None:
    """With SIGCHLD ignored, the process notices the command's end at once, and returns its code.

    At once means before the votes are repeated after 10 s.
    """
    script = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    )
    words = [*htppower, "profile", "burst", "--", "sh", "-c", "exit 7"]
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(
        command, env=environment(standin), capture_output=True, text=True, check=False, timeout=LONGEST_S
    )
    assert done.returncode == 7, done.stderr
    assert [line.core_target for line in standin.sets] == [160, 64]
    standin.assert_nothing_left()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("what", ["profile burst -- sh -c 'exit 7'", "doctor"])
def test_closed_descriptors(standin: Standin, closed: str, what: str) -> None:
    """With any standard descriptors closed, the command works, and the library's output is dropped."""
    line = f"{sys.executable} -m htppower {what} {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        env=environment(standin),
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    assert done.returncode == (0 if what == "doctor" else 7), done.stderr
    assert "a line on the standard output" not in done.stdout
    standin.assert_nothing_left()


def test_nobody_reads_what_is_said(standin: Standin) -> None:
    """A closed reader of standard error does not end the process."""
    read, write = os.pipe()
    os.close(read)
    command = [*HTPPOWER, "--", "sh", "-c", "exit 7"]
    done = subprocess.run(command, env=environment(standin), stdout=subprocess.DEVNULL, stderr=write, check=False)
    os.close(write)
    assert done.returncode == 7
    standin.assert_nothing_left()


def test_sigquit_ends_what_hangs(standin: Standin) -> None:
    """SIGQUIT ends the process even if a native call does not return."""
    standin.script("deviceCreate 1 1 0 20000000")
    process = subprocess.Popen(HTPPOWER, env=environment(standin), stderr=subprocess.DEVNULL)
    until(lambda: "deviceFreePlatformInfo" in functions(standin.trace))
    process.send_signal(signal.SIGQUIT)
    assert process.wait(LONGEST_S) == -signal.SIGQUIT

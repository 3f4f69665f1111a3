"""A terminal for a command, as a user has one: keys that signal, and a shell that does job control."""

from __future__ import annotations

import os
import select
import signal
import time
import warnings
from typing import TYPE_CHECKING

import pytest
from support.needs import LACKING

pytest.importorskip("termios", reason=LACKING["terminals"])
import pty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Far more than anything here takes, on a busy machine, too.
LONGEST_S = 60
CTRL_C, CTRL_Z = b"\x03", b"\x1a"


class Terminal:
    """A process in the foreground of a terminal of its own, started with this process as its shell.

    Args:
        command: what runs in it.
        environment: its environment.
        orphaned: run it as the leader of the session, so that no shell could continue it.
    """

    def __init__(self, command: list[str], environment: Mapping[str, str], *, orphaned: bool = False) -> None:
        self._main, side = pty.openpty()
        with warnings.catch_warnings():
            # Later Pythons warn of threads, which the child has none of once it is another program.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.shell = os.fork()
        if self.shell == 0:
            try:
                os.setsid()
                os.close(self._main)
                for descriptor in range(3):
                    os.dup2(side, descriptor)
                os.ttyname(0)
                _own_terminal()
                if orphaned:
                    os.execvpe(command[0], command, environment)
                _be_a_shell(command, environment)
            finally:
                os._exit(99)
        os.close(side)
        self.output = b""

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._main, key)

    def hang_up(self) -> None:
        """Close the terminal, as a connection that breaks does."""
        os.close(self._main)
        self._main = -1

    def read(self) -> bytes:
        """Return all that was printed up to now."""
        while self._main >= 0 and select.select([self._main], [], [], 0)[0]:
            try:
                self.output += os.read(self._main, 4096)
            except OSError:
                break
        return self.output

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, while what is printed is read."""
        give_up_s = time.monotonic() + LONGEST_S
        while not condition():
            assert time.monotonic() < give_up_s, self.read().decode()
            self.read()
            time.sleep(0.01)

    def wait(self) -> int:
        """Return the exit code of the command."""
        code: list[int] = []

        def ended() -> bool:
            pid, status = os.waitpid(self.shell, os.WNOHANG)
            code.extend([os.waitstatus_to_exitcode(status)] if pid else [])
            return bool(pid)

        self.until(ended)
        self.read()
        os.close(self._main)
        return code[0]


def _own_terminal() -> None:
    import fcntl  # noqa: PLC0415 - in the child only
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _be_a_shell(command: list[str], environment: Mapping[str, str]) -> None:
    """Run the command in the foreground; continue it there whenever it stops; exit as it does."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvpe(command[0], command, environment)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"STOPPED\n")
        os.read(0, 64)  # a line is typed to continue it
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)

"""A slow command shows its progress on a terminal, and only there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEADLINE_S = 60
_COMMAND = (sys.executable, "-m", "htppower", "trace", "-")


class _Seen:
    """A command that waits for its standard input, and the output on its terminal so far."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self.written = b""
        self._terminal = terminal

    def read(self, wait_s: float) -> None:
        """Read the command's output within a time."""
        if select.select([self._terminal], [], [], wait_s)[0]:
            with contextlib.suppress(OSError):  # The other side is closed.
                self.written += os.read(self._terminal, 4096)

    def wait_for(self, text: bytes) -> None:
        """Read until a text has come."""
        deadline_s = time.monotonic() + _DEADLINE_S
        while text not in self.written and time.monotonic() < deadline_s:
            self.read(0.05)
        assert text in self.written

    def line(self) -> bytes:
        """Return the last line of the terminal at the end."""
        line = bytearray()
        place = 0
        for letter in self.written.rpartition(b"\n")[2]:
            if letter == ord("\r"):
                place = 0
            else:
                line[place : place + 1] = bytes([letter])
                place += 1
        return bytes(line).strip()


@contextlib.contextmanager
def started(columns: int = 80, **environment: str) -> Iterator[_Seen]:
    """Run a command with a terminal as standard error, after it has read a part of its standard input."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": side}
    with subprocess.Popen(_COMMAND, env={**os.environ, **environment}, **pipes) as process:  # type: ignore[call-overload]
        os.close(side)
        assert process.stdin is not None
        process.stdin.write(b"begin_us\n1\n2\n")
        process.stdin.flush()
        try:
            yield _Seen(process, terminal)
        finally:
            process.kill()
            os.close(terminal)


def test_it_shows_what_is_done_and_is_gone_in_the_end() -> None:
    """Also without colours; the printed result does not change."""
    with started(TERM="xterm", NO_COLOR="1") as seen:
        seen.wait_for(b"reading -: 1 s")
        out = seen.process.communicate()[0]
        seen.read(0)
    assert b"2 inferences of 1 session" in out
    assert seen.line() == b""
    assert b"\x1b" not in seen.written


def test_ctrl_c_leaves_one_line() -> None:
    """The line says that the command was interrupted."""
    with started(TERM="xterm") as seen:
        seen.wait_for(b"reading -")
        seen.process.send_signal(signal.SIGINT)
        seen.wait_for(b"interrupted")
        assert seen.process.wait(_DEADLINE_S) == 130
    (said,) = (line for line in seen.written.decode().split("\r") if "interrupted" in line)
    assert said == "htppower: interrupted"


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_can_not_go_back_gets_nothing(term: str) -> None:
    """Such a terminal would get a new line each time."""
    with started(TERM=term) as seen:
        seen.read(1.6)
        seen.process.communicate()
        seen.read(0)
    assert seen.written == b""


def test_a_narrow_terminal_gets_one_line() -> None:
    """The line is shorter than the terminal, so it can be overwritten."""
    with started(columns=12, TERM="xterm") as seen:
        seen.wait_for(b"-: 1")
        seen.process.communicate()
        seen.read(0)
    assert max(map(len, seen.written.split(b"\r"))) < 12

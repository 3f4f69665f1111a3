"""A command run as a child process, with signals passed on and its end as a shell tells of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Protocol

from htppower.cli.signals import SIGNALED

# As a shell tells of a command that it can't run.
NOT_FOUND = 127
NOT_EXECUTABLE = 126


class CommandFailed(Exception):  # noqa: N818 - reads as what it is
    """A command that could not be started, with the exit code for it."""

    def __init__(self, command: str, error: OSError) -> None:
        self.code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        super().__init__(f"can't run {command}: {error.strerror}")


class Child(Protocol):
    """A running command."""

    def ended(self) -> int | None:
        """Return its exit code once it has ended."""

    def send(self, number: int) -> None:
        """Send it a signal."""


class SpawnedChild:
    """A child with the signal mask that this process had, where signals are blocked here.

    Raises:
        CommandFailed: it can't be started.
    """

    def __init__(self, command: tuple[str, ...], mask: frozenset[int], stdout: int | None) -> None:
        actions = [] if stdout is None else [(os.POSIX_SPAWN_DUP2, stdout, 1)]
        # Python ignores SIGPIPE, and a child would inherit that.
        defaults = [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if number]
        try:
            self._pid = os.posix_spawnp(
                command[0], command, os.environ, file_actions=actions, setsigmask=mask, setsigdef=defaults
            )
        except OSError as error:
            raise CommandFailed(command[0], error) from error
        self._code: int | None = None

    def ended(self) -> int | None:
        """Return its exit code once it has ended, 128 and the signal's number if it died of one."""
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else SIGNALED - code
        return self._code

    def send(self, number: int) -> None:
        """Send it a signal."""
        if self._code is None:
            os.kill(self._pid, number)


class PlainChild:
    """A child where signals can't be blocked, as on Windows; the console sends it Ctrl-C by itself.

    Raises:
        CommandFailed: it can't be started.
    """

    def __init__(self, command: tuple[str, ...], stdout: int | None) -> None:
        try:
            self._process = subprocess.Popen(command, stdout=stdout)  # noqa: S603 - the user's own command
        except OSError as error:
            raise CommandFailed(command[0], error) from error

    def ended(self) -> int | None:
        """Return its exit code once it has ended."""
        code = self._process.poll()
        return code if code is None or code >= 0 or sys.platform == "win32" else SIGNALED - code

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

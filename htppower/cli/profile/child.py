"""A command run as a child process, with signals passed on and its end as a shell tells of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import Protocol

from htppower.cli.profile.signals import SIGNALED, BlockedSignals, Signals

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
        """Return its exit code once it has ended, 128 and the signal's number if it died of one."""

    def send(self, number: int) -> None:
        """Send it a signal, if it is still there.

        Raises:
            OSError: it may not be sent.
        """

    def in_this_group(self) -> bool:
        """Whether it is in the process group of this process, and gets what the terminal sends to that."""


class SpawnedChild:
    """A child with the signals that this process had before it blocked them.

    Raises:
        CommandFailed: it can't be started.
    """

    def __init__(self, command: tuple[str, ...], mask: frozenset[int], stdout: int | None) -> None:
        actions = [] if stdout is None else [(os.POSIX_SPAWN_DUP2, stdout, 1)]
        # Python ignores these, and a child would inherit that.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
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
        """Send it a signal, if it is still there."""
        if self._code is None:
            os.kill(self._pid, number)

    def in_this_group(self) -> bool:
        """Whether it is in the process group of this process, and gets what the terminal sends to that."""
        return _in_this_group(self._pid)


class PlainChild:
    """A child where signals can't be blocked.

    Raises:
        CommandFailed: it can't be started.
    """

    def __init__(self, command: tuple[str, ...], stdout: int | None) -> None:
        try:
            self._process = subprocess.Popen(command, stdout=stdout)  # noqa: S603 - the user's own command
        except OSError as error:
            raise CommandFailed(command[0], error) from error

    def ended(self) -> int | None:
        """Return its exit code once it has ended, 128 and the signal's number if it died of one."""
        code = self._process.poll()
        return SIGNALED - code if code is not None and code < 0 else code

    def send(self, number: int) -> None:
        """Send it a signal, if it is still there and the system has a way; Windows has none but for ending it."""
        with contextlib.suppress(ValueError):
            self._process.send_signal(number)

    def in_this_group(self) -> bool:
        """Whether it is in the process group of this process, and gets what the terminal sends to that."""
        return _in_this_group(self._process.pid)


def _in_this_group(pid: int) -> bool:
    # Without process groups the console sends its keys to every process.
    return not hasattr(os, "getpgid") or os.getpgid(pid) == os.getpgrp()


def open_descriptors() -> frozenset[int]:
    """Return the descriptors that are open, as far as the system tells."""
    try:
        listed = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:
        return frozenset()
    # One of them was open for the listing only.
    return frozenset(descriptor for descriptor in listed if _is_open(descriptor))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def keep_from_children(descriptors: frozenset[int]) -> None:
    """Let no child inherit these; one that is closed meanwhile is left alone.

    The vendor's library opens the device so that a child would hold it, and the driver removes votes only when nobody
    holds it any more.
    """
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.set_inheritable(descriptor, False)


def start(command: tuple[str, ...], signals: Signals, stdout: int | None) -> Child:
    """Start a command; its standard output is the descriptor given, or this process's own.

    Raises:
        CommandFailed: it can't be started.
    """
    if isinstance(signals, BlockedSignals):
        return SpawnedChild(command, signals.mask, stdout)
    return PlainChild(command, stdout)

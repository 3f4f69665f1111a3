"""A command run as a child process: signals are passed on to it, and its exit code is the one that a shell gives."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TypeAlias

from htppower.cli.profile.signals import SIGNALED

# The exit codes of a shell for a command that it can't run.
NOT_FOUND = 127
NOT_EXECUTABLE = 126


class CommandFailed(Exception):  # noqa: N818 - reads as what it is
    """A command could not be started; ``code`` is the exit code for it."""

    def __init__(self, command: str, error: OSError) -> None:
        self.code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        super().__init__(f"can't run {command or repr(command)}: {error.strerror}")


def start(command: tuple[str, ...], mask: frozenset[int] | None, stdout: int | None) -> Child:
    """Start a command.

    Args:
        command: the program and its arguments.
        mask: the signals that it blocks; None where this process has not blocked any.
        stdout: the descriptor of its standard output; None for the one of this process.

    Raises:
        CommandFailed: it can't be started.
    """
    try:
        return _started(command, mask, stdout)
    except OSError as error:
        failed = error
    script = shutil.which(command[0]) if failed.errno == errno.ENOEXEC and os.name == "posix" else None
    if script is not None:
        try:
            # As a shell and env do: an executable file that is no binary and has no #! is a shell's script.
            return _started(("sh", "--", script, *command[1:]), mask, stdout)
        except OSError as error:
            failed = error
    raise CommandFailed(command[0], failed) from failed


def _started(command: tuple[str, ...], mask: frozenset[int] | None, stdout: int | None) -> Child:
    if not command[0]:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return _PlainChild(command, stdout) if mask is None else _SpawnedChild(command, mask, stdout)


def in_this_group(child: Child) -> bool:
    """Return whether the terminal sends its keys to the child, too: it is in the process group of this process."""
    # Without process groups the console sends its keys to every process.
    return not hasattr(os, "getpgid") or os.getpgid(child.pid) == os.getpgrp()


class _SpawnedChild:
    """A child with the signal mask that this process had before it blocked signals."""

    def __init__(self, command: tuple[str, ...], mask: frozenset[int], stdout: int | None) -> None:
        actions = [] if stdout is None else [(os.POSIX_SPAWN_DUP2, stdout, 1)]
        # Python ignores these, and a child would inherit that.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        self.pid = os.posix_spawnp(
            command[0], command, os.environ, file_actions=actions, setsigmask=mask, setsigdef=defaults
        )
        self._code: int | None = None

    def exit_code(self) -> int | None:
        """Return its exit code, 128 and the number of the signal that killed it, or None while it runs."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = _as_a_shell(os.waitstatus_to_exitcode(status))
        return self._code

    def send(self, number: int) -> None:
        """Send it a signal, if it still runs.

        Raises:
            OSError: the system refuses.
        """
        if self._code is None:
            os.kill(self.pid, number)


class _PlainChild:
    """A child where signals can't be blocked."""

    def __init__(self, command: tuple[str, ...], stdout: int | None) -> None:
        self._process = subprocess.Popen(command, stdout=stdout)  # noqa: S603 - the user's own command
        self.pid = self._process.pid

    def exit_code(self) -> int | None:
        code = self._process.poll()
        return None if code is None else _as_a_shell(code)

    def send(self, number: int) -> None:
        with contextlib.suppress(ValueError):  # Windows can only end it
            self._process.send_signal(number)


# A running command; ``pid`` is its process id.
Child: TypeAlias = _SpawnedChild | _PlainChild


def _as_a_shell(code: int) -> int:
    return code if code >= 0 else SIGNALED - code


def open_descriptors() -> frozenset[int]:
    """Return the descriptors that are open; none where the system does not tell."""
    try:
        listed = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:
        return frozenset()
    # One of them was open only for the listing.
    return frozenset(descriptor for descriptor in listed if _is_open(descriptor))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def keep_from_children(descriptors: frozenset[int]) -> None:
    """Let no child inherit these; a closed one is left alone.

    The vendor's library opens the device inheritably, and the driver removes votes only when no process holds it.
    """
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.set_inheritable(descriptor, False)

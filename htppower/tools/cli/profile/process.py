"""Signals, taken one by one while a profile is held up, and the command that runs as a child process meanwhile.

Signals are blocked before the first thread starts, so that every thread blocks them. Then the main thread waits for
them. So no handler runs in the middle of other code, and no signal is lost between a check and a wait. SIGQUIT is not
taken: it ends the process even while a native call hangs, and the driver removes the votes.

Where signals can't be waited for, as on Windows, handlers note them, and Python writes a byte to a socket for each. The
main thread waits for that byte. A thread that waits for the end of the child sends one, too.

The child gets the signals of this process, and has the exit code of a shell.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# The exit code of a process that died of signal N is 128 + N.
SIGNALED = 128
# The si_code of a signal from the kernel.
_SI_KERNEL = 0x80
# The exit codes of a shell for a command that can't be run.
NOT_FOUND = 127
NOT_EXECUTABLE = 126
_LARGEST_EXIT_CODE = 0x7FFF_FFFF


def _named(*names: str) -> frozenset[int]:
    """Return those of these signals that the system has."""
    return frozenset(getattr(signal, name) for name in names if hasattr(signal, name))


# The first end a process that does not handle them, the second stop it, the third only end the wait.
ENDING = _named(
    *("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF"),
    *("SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT"),
)
STOPPING = _named("SIGTSTP", "SIGTTIN", "SIGTTOU")
NOTICED = _named("SIGCHLD", "SIGCONT")


@attrs.frozen
class TakenSignal:
    """A signal that has arrived.

    Attributes:
        number: the signal.
        by_a_key: whether a key of the terminal caused it. Then the kernel sends it to the whole foreground group.
    """

    number: int
    by_a_key: bool


def take_signals() -> Signals:
    """Take the signals of this process from now on: block them if the system can wait for them, else use handlers."""
    can_wait = hasattr(signal, "sigtimedwait") and hasattr(os, "posix_spawnp")
    return _BlockedSignals() if can_wait else _NotedSignals()


class _BlockedSignals:
    """The signals of this process, blocked permanently. Ignored signals stay ignored, except SIGCHLD."""

    def __init__(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # while it is ignored, the kernel reports no child
        taken = ENDING | STOPPING | NOTICED
        self._taken = {number for number in taken if signal.getsignal(number) is not signal.SIG_IGN}
        self.mask = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, self._taken))

    def next(self, timeout_s: float) -> TakenSignal | None:
        """Wait for a signal and return it; None after the timeout, or if a child may have ended."""
        info = signal.sigtimedwait(self._taken, max(timeout_s, 0))
        if info is None:
            return None
        # If a terminal closes, only the leader of its session gets SIGHUP.
        alone = info.si_signo == signal.SIGHUP and os.getsid(0) == os.getpid()
        return TakenSignal(info.si_signo, info.si_code == _SI_KERNEL and not alone)

    def close(self) -> None:
        """Do nothing: the signals stay blocked."""

    def stop(self) -> None:
        """Stop this process by SIGTSTP, as a shell expects. Do nothing if no shell can continue it."""
        if signal.SIGCONT in signal.sigpending():
            return  # the process was continued already
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


class _NotedSignals:
    """Signals that handlers note, on a system that can't wait for signals (Windows)."""

    def __init__(self) -> None:
        self._noted: deque[int] = deque()
        self._before: dict[int, Any] = {}
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        if hasattr(signal, "SIGCHLD"):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # while it is ignored, the kernel reports no child
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.append(number)

    def close(self) -> None:
        """Wait no more, and restore the handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        self._woken.close()
        self._waker.close()

    def wake(self) -> None:
        """End the wait of the main thread; do nothing if it waits no more."""
        with contextlib.suppress(OSError):  # closed, or full of bytes, each of which ends the wait
            self._waker.send(b"\0")

    def next(self, timeout_s: float) -> TakenSignal | None:
        """Wait for a signal and return it; None after the timeout, or if the child has ended."""
        if not self._noted and select.select([self._woken], [], [], max(timeout_s, 0))[0]:
            self._woken.recv(4096)
        if not self._noted:
            return None
        number = self._noted.popleft()
        return TakenSignal(number, by_a_key=number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty())

    def stop(self) -> None:
        """Do nothing: SIGTSTP is not taken here."""


# A source of signals.
Signals: TypeAlias = _BlockedSignals | _NotedSignals


class CommandFailed(Exception):  # noqa: N818 - the name states the fault
    """A command can't be started; ``code`` is the exit code for it."""

    def __init__(self, command: str, error: OSError) -> None:
        self.code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        super().__init__(f"can't run {command or repr(command)}: {error.strerror}")


def start(command: tuple[str, ...], signals: Signals, stdout: int | None) -> Child:
    """Start a command.

    Args:
        command: the program and its arguments.
        signals: the signals of this process. A wait for them ends when the command does.
        stdout: the descriptor of its standard output; None for this process's own.

    Raises:
        CommandFailed: it can't be started.
    """
    try:
        return _started(command, signals, stdout)
    except OSError as error:
        failed = error
    script = shutil.which(command[0]) if failed.errno == errno.ENOEXEC and os.name == "posix" else None
    if script is not None:
        try:
            # A shell and env run an executable file as a shell's script if it is not a binary and has no #!.
            return _started(("sh", "--", script, *command[1:]), signals, stdout)
        except OSError as error:
            failed = error
    raise CommandFailed(command[0], failed) from failed


def _started(command: tuple[str, ...], signals: Signals, stdout: int | None) -> Child:
    if not command[0]:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if isinstance(signals, _NotedSignals):
        return _PlainChild(command, signals.wake, stdout)
    return _SpawnedChild(command, signals.mask, stdout)


def in_this_group(child: Child) -> bool:
    """Return whether the terminal sends its keys also to the child, which is then in this process's group."""
    # Without process groups, the console sends its keys to every process.
    return not hasattr(os, "getpgid") or os.getpgid(child.pid) == os.getpgrp()


class _SpawnedChild:
    """A child with the signal mask that this process had before it blocked signals."""

    def __init__(self, command: tuple[str, ...], mask: frozenset[int], stdout: int | None) -> None:
        actions = [] if stdout is None else [(os.POSIX_SPAWN_DUP2, stdout, 1)]
        # Python ignores these signals, and a child would inherit that.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        self.pid = os.posix_spawnp(
            command[0], command, os.environ, file_actions=actions, setsigmask=mask, setsigdef=defaults
        )
        self._code: int | None = None

    def exit_code(self) -> int | None:
        """Return its exit code, or 128 plus the number of the signal that killed it; None while it runs."""
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
    """A child on a system where signals can't be blocked."""

    def __init__(self, command: tuple[str, ...], ended: Callable[[], None], stdout: int | None) -> None:
        # Windows itself finds only programs that end in .exe; npm is npm.cmd there.
        program = shutil.which(command[0]) or command[0]
        self._process = subprocess.Popen((program, *command[1:]), stdout=stdout)  # noqa: S603 - the user's own command
        self.pid = self._process.pid
        threading.Thread(target=self._wait, args=(ended,), name="htppower-child", daemon=True).start()

    def _wait(self, ended: Callable[[], None]) -> None:
        self._process.wait()
        ended()

    def exit_code(self) -> int | None:
        code = self._process.poll()
        return None if code is None else _as_a_shell(code)

    def send(self, number: int) -> None:
        with contextlib.suppress(ValueError):  # Windows can only end it
            self._process.send_signal(number)


# A running command; ``pid`` is its process id.
Child: TypeAlias = _SpawnedChild | _PlainChild


def _as_a_shell(code: int) -> int:
    if code > _LARGEST_EXIT_CODE:
        # Windows ends a process that crashed with such a code, and Python's exit takes it as a signed number only.
        return code - (1 << 32)
    return code if code >= 0 else SIGNALED - code


def open_descriptors() -> frozenset[int]:
    """Return the descriptors that are open; empty if the system can't list them."""
    try:
        listed = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:
        return frozenset()
    # One descriptor was open only for the listing.
    return frozenset(descriptor for descriptor in listed if _is_open(descriptor))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def keep_from_children(descriptors: frozenset[int]) -> None:
    """Let no child inherit these descriptors. Closed ones are left alone.

    The vendor's library opens the device so that children inherit it. The driver removes the votes only when no process
    has the device open.
    """
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.set_inheritable(descriptor, False)

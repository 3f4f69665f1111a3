"""Signals, taken one by one while a profile is held up.

They are blocked before the first thread starts, so that every thread blocks them. Then the main thread waits for them.
So no handler runs in the middle of other code, and no signal is lost between a check and a wait. SIGQUIT is not taken:
it ends the process even while a native call hangs, and the driver removes the votes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    from types import FrameType

# The exit code of a process that died of signal N is 128 + N.
SIGNALED = 128
# The si_code of a signal from the kernel.
_SI_KERNEL = 0x80
_POLL_S = 0.05


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
    return _BlockedSignals() if can_wait else _PolledSignals()


class _BlockedSignals:
    """The signals of this process, blocked permanently. Ignored signals stay ignored, except SIGCHLD."""

    def __init__(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # while it is ignored, the kernel reports no child
        taken = ENDING | STOPPING | NOTICED
        self._taken = {number for number in taken if signal.getsignal(number) is not signal.SIG_IGN}
        self.mask: frozenset[int] | None = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, self._taken))

    def next(self, timeout_s: float) -> TakenSignal | None:
        """Wait for a signal and return it; None after the timeout, or if a child may have ended."""
        info = signal.sigtimedwait(self._taken, max(timeout_s, 0))
        if info is None:
            return None
        # If a terminal closes, only the leader of its session gets SIGHUP.
        alone = info.si_signo == signal.SIGHUP and os.getsid(0) == os.getpid()
        return TakenSignal(info.si_signo, info.si_code == _SI_KERNEL and not alone)

    def stop(self) -> None:
        """Stop this process by SIGTSTP, as a shell expects, until it is continued; not if no shell can continue it."""
        if signal.SIGCONT in signal.sigpending():
            return  # the process was continued already
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


class _PolledSignals:
    """Signals that handlers note, on a system that can't wait for signals (Windows). ``next`` takes up to 50 ms."""

    def __init__(self) -> None:
        self.mask: frozenset[int] | None = None
        self._noted: deque[int] = deque()
        if hasattr(signal, "SIGCHLD"):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # while it is ignored, the kernel reports no child
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.append(number)

    def next(self, timeout_s: float) -> TakenSignal | None:
        if not self._noted:
            time.sleep(min(max(timeout_s, 0), _POLL_S))
        if not self._noted:
            return None
        number = self._noted.popleft()
        return TakenSignal(number, by_a_key=number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty())

    def stop(self) -> None:
        """Do nothing: SIGTSTP is not taken here."""


# A source of signals. ``mask`` has the signals that were blocked before, for a child; None if none are blocked.
Signals: TypeAlias = _BlockedSignals | _PolledSignals

"""Signals taken one by one while a profile is held up.

They are blocked before the first thread is started, so that every thread blocks them and none is lost; then the main
thread waits for them. So no signal handler runs in the middle of anything, and a signal can't arrive between a check
and a wait. SIGQUIT is left alone: it ends the process also where a native call hangs, and the driver removes its votes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from types import FrameType

# A process that died of signal N is told of as 128 + N.
SIGNALED = 128
# si_code of a signal that the kernel sent.
_SI_KERNEL = 0x80
_POLL_S = 0.05


def _named(*names: str) -> frozenset[int]:
    """Return those of these signals that the system has."""
    return frozenset(getattr(signal, name) for name in names if hasattr(signal, name))


# What ends a process that does not handle it; what stops it; what else is taken so that the wait ends, or is noticed.
ENDING = _named(
    *("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF"),
    *("SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT"),
)
STOPPING = _named("SIGTSTP", "SIGTTIN", "SIGTTOU")
NOTICED = _named("SIGCHLD", "SIGCONT")


@attrs.frozen
class Taken:
    """A signal that was taken.

    Attributes:
        number: which.
        by_a_key: whether the kernel sent it, as it does for a key of the terminal, to the whole foreground group.
    """

    number: int
    by_a_key: bool


class Signals(Protocol):
    """Where signals come from."""

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for a signal, and return it; None where the time has run out first, or there may be news of a child."""

    def stop(self) -> None:
        """Stop this process, as a shell expects of it; return when it is continued."""


class BlockedSignals:
    """The signals of this process, blocked for good. Those that are ignored stay ignored, SIGCHLD aside.

    Attributes:
        mask: the signals that were blocked before, as a child should have them.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored the kernel tells of no child
        taken = ENDING | STOPPING | NOTICED
        self._taken = {number for number in taken if signal.getsignal(number) is not signal.SIG_IGN}
        self.mask = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, self._taken))

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for a signal, and return it; None where the time has run out first."""
        info = signal.sigtimedwait(self._taken, max(timeout_s, 0))
        if info is None:
            return None
        # Of a terminal that goes away only the leader of its session is told.
        alone = info.si_signo == signal.SIGHUP and os.getsid(0) == os.getpid()
        return Taken(info.si_signo, info.si_code == _SI_KERNEL and not alone)

    def stop(self) -> None:
        """Stop by SIGTSTP itself: the kernel lets it pass where nobody could continue the process.

        Where the process has been continued already, it is not stopped.
        """
        if signal.SIGCONT in signal.sigpending():
            return
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


class PolledSignals:
    """Signals noted by handlers, where they can't be waited for, as on Windows; a child is looked after every 50 ms."""

    def __init__(self) -> None:
        self._noted: deque[int] = deque()
        if hasattr(signal, "SIGCHLD"):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored the kernel tells of no child
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.append(number)

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for a signal, or for some time, and return it; None where there is none."""
        if not self._noted:
            time.sleep(min(max(timeout_s, 0), _POLL_S))
        if not self._noted:
            return None
        number = self._noted.popleft()
        return Taken(number, by_a_key=number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty())

    def stop(self) -> None:
        """Do nothing: SIGTSTP is not taken here."""


def take_signals() -> Signals:
    """Take the signals of this process from now on, in the best way that the system has."""
    can_wait = hasattr(signal, "sigtimedwait") and hasattr(os, "posix_spawnp")
    return BlockedSignals() if can_wait else PolledSignals()

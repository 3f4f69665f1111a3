"""Signals taken one by one while a profile is held up.

They are blocked before the first thread is started, so that every thread blocks them and none is lost; then the main
thread waits for them. So no signal handler runs in the middle of anything, and a signal can't arrive between a check
and a wait.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Protocol

import attrs

# A process that died of signal N is told of as 128 + N.
SIGNALED = 128
# si_code of a signal that the kernel sent, as it does to the whole foreground group for a key of the terminal.
_SI_KERNEL = 0x80
_TAKEN = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCHLD")
_POLL_S = 0.05


@attrs.frozen
class Taken:
    """A signal that was taken.

    Attributes:
        number: which.
        to_the_group: whether the children of this process have got it, too.
    """

    number: int
    to_the_group: bool


class Signals(Protocol):
    """Where signals come from."""

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for a signal, and return it; None where the time has run out first."""


class BlockedSignals:
    """The signals of this process, blocked for good. Those that are ignored stay ignored.

    Attributes:
        mask: the signals that were blocked before, as a child should have them.
    """

    def __init__(self) -> None:
        numbers = [getattr(signal, name) for name in _TAKEN]
        self._taken = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        self.mask = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, self._taken))

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for a signal, and return it; None where the time has run out first."""
        info = signal.sigtimedwait(self._taken, max(timeout_s, 0))
        return None if info is None else Taken(info.si_signo, info.si_code == _SI_KERNEL)


class PolledSignals:
    """Ctrl-C only, where signals can't be waited for, as on Windows; a child is looked after every 50 ms."""

    def next(self, timeout_s: float) -> Taken | None:
        """Wait for Ctrl-C, or for some time; None where the time has run out first."""
        try:
            time.sleep(min(max(timeout_s, 0), _POLL_S))
        except KeyboardInterrupt:
            return Taken(signal.SIGINT, to_the_group=True)
        return None


def can_block() -> bool:
    """Whether this system lets a process wait for blocked signals and start a child without them."""
    return hasattr(signal, "sigtimedwait") and hasattr(os, "posix_spawnp")

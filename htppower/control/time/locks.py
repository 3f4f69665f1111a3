"""The locks of a controller that have a rank: what each protects, their order, and what may be done under each.

A thread that holds a lock takes only locks of a higher rank, or the same lock again: all of them are reentrant, since a
signal handler may come in the middle of anything. One of the host's own lets a thread use the controller: another
thread may wait for a lock that this one holds. In the order of their ranks:

- REMAINS, one a controller: it is held while what is left of closed sessions is brought down, over the native calls.
- TURN, one a session: its state, its ids and what is known to be in force on them. It is held over the native calls on
  these ids, so that there is one at a time. Nobody holds two turns.
- PROCESS, one a backend, which several controllers may share: it is held over the native call that changes the settings
  of the process.
- CALL, one a backend, only where that takes one call at a time: it is held over every native call. Threads get it in
  the order in which they came.
- REGISTRY, one a controller: the open sessions, holds, caps and plans, the back-off, and the number of times that the
  link was lost. No native call is made under it. Nobody holds those of two controllers.
- SETTINGS, one a backend: the wishes for the settings of the process, what is known of them, who shares them, and whose
  each power config id is.
- GATE, one a session: the counts of its phases, its deadline and its alarm. No native call is made under it.
- EVENTS, one a controller: the order of events. Events are delivered with no lock held.
- TIME and WORKER: inside clock, alarms and threads.

A lock is taken by ``with``: no exception such as Ctrl-C can come between the taking and the block. From CPython 3.14 on
that holds for ``whole_lock``, and for no lock of ``threading``. Where a thread must not wait, or not for ever,
``run_if_free`` takes it: that asks for the lock within ``try``, and releases it in ``finally`` as the first thing,
which raises RuntimeError where it did not get it.

No loop stands directly in a ``with`` or a ``try`` that undoes something: in CPython 3.12 to 3.14 an exception that
comes as such a loop begins again, at the end of an ``if``, misses both. A loop in a function that is called there is
safe.

What the garbage collector may run (the end of a hold, of a stream, of an inference that was dropped) takes no lock: it
posts an action to a worker.

The lock of ``logging`` is taken under none of these: who holds it may run a finalizer of the host's, which waits for
one of them. ``Logger.isEnabledFor`` takes it where the answer is not kept, as after any ``setLevel``.
"""

from __future__ import annotations

import enum
import logging
from typing import TYPE_CHECKING, Protocol

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter

FOREVER_S = -1.0


class Rank(enum.IntEnum):
    """The order in which locks are taken."""

    REMAINS = 1
    TURN = 2
    PROCESS = 3
    CALL = 4
    REGISTRY = 5
    SETTINGS = 6
    GATE = 7
    EVENTS = 8
    TIME = 9
    WORKER = 10


class Lock(Protocol):
    """A reentrant lock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; return whether it was taken."""

    def release(self) -> None:
        """Give it back."""

    def __enter__(self) -> bool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def _is_owned(self) -> bool:
        """Return whether this thread holds it."""


def make_lock(rank: Rank) -> Lock:  # noqa: ARG001 - tests put locks in the place of these that check their ranks
    """Return a new lock of a rank."""
    return whole_lock()  # type: ignore[return-value]  # typeshed does not know _is_owned


def is_held(lock: Lock) -> bool:
    """Return whether this thread holds a lock."""
    return lock._is_owned()  # noqa: SLF001 - as threading.Condition asks


def run_if_free(lock: Lock, action: Callable[[], object], wait_s: float = 0) -> bool:
    """Run an action under a lock, and return True, unless another thread holds it for longer, or this one does.

    ``wait_s``: how long to wait for it; 0 not at all, ``FOREVER_S`` until it is free.
    """
    if is_held(lock):
        return False
    try:
        taken = lock.acquire(timeout=wait_s)
        if taken:
            action()
        return taken
    finally:
        try:  # noqa: SIM105 - nothing may come before the release: see the top of the page
            lock.release()
        except RuntimeError:
            pass  # another thread has it


def comes_free(lock: Lock, timeout_s: float) -> bool:
    """Wait until no other thread holds a lock; return whether that is so within the time."""
    return is_held(lock) or run_if_free(lock, _nothing, timeout_s)


def _nothing() -> None:
    """Do nothing."""


class UnlockedLogger(Adapter):
    """A logger that asks for its level without the lock of ``logging``."""

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - overrides that of logging
        """Return whether records of a level are written."""
        logger = self.logger
        return not logger.disabled and level >= logger.getEffectiveLevel() and level > logger.manager.disable

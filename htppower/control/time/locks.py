"""The locks of the controller, and what a thread may do while it holds each of them.

- The line (``core.line``), one for each loaded library, is held during all native calls. It protects sessions, ids,
  ledgers, settings, claims and the link.
- A gate, one for each session, protects its counts of phases, its deadline and its alarm. It is taken with the line or
  without it. A thread that holds a gate must not wait for a native call, for the line, or for another gate.

Other objects (a status file, a recording, a thermal cap) have locks for their own fields. A thread must take such a
lock before the line and the gates, never while it holds one of these.

A gate is reentrant, since a signal handler of the host may interrupt the begin or the end of a phase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from types import TracebackType


class Lock(Protocol):
    """A reentrant lock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; return whether it was taken."""

    def release(self) -> None:
        """Release the lock."""

    def __enter__(self) -> bool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def _is_owned(self) -> bool:
        """Return whether this thread holds the lock."""


def is_held(lock: Lock) -> bool:
    """Return whether this thread holds a lock."""
    return lock._is_owned()  # noqa: SLF001 - as threading.Condition does


def make_gate_lock() -> Lock:
    """Return the lock of a new gate. Tests replace this function to record what is done under the lock."""
    return whole_lock()  # type: ignore[return-value]  # typeshed does not know _is_owned

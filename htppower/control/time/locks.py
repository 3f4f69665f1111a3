"""The locks of the controller, and what may be done under each.

- The line (``core.line``), one for each loaded library: it is held over native calls. Sessions, ids, ledgers, settings,
  claims and the link belong to the thread that has it.
- A gate, one for each session: its counts of phases, its deadline and its alarm. It is taken under the line or without
  it, and nothing is waited for under it: no native call, no line, no other gate.

Besides these, objects that the core does not know (a status file, a recording, a thermal cap) have a lock of their own
for their own fields. It is taken before the line and the gates, never under them.

A gate is reentrant, since a signal handler of the host may run in the middle of a phase's begin or end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from types import TracebackType


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


def is_held(lock: Lock) -> bool:
    """Return whether this thread holds a lock."""
    return lock._is_owned()  # noqa: SLF001 - as threading.Condition asks


def make_gate_lock() -> Lock:
    """Return the lock of a new gate. Tests put a lock in its place that notes what is done under it."""
    return whole_lock()  # type: ignore[return-value]  # typeshed does not know _is_owned

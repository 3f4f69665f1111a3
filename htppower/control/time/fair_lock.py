"""A lock that threads get in the order in which they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.locks import Lock


class _Place:
    """Where a thread stands in a line.

    Attributes:
        lock: held by the thread until it is done, or has given up. Reentrant, as its signal handler may join the line.
        before: whom it waits for; None once it is its turn.
    """

    __slots__ = ("before", "lock")

    def __init__(self) -> None:
        self.lock = whole_lock()
        self.before: _Place | None = None


def _wait_for_those_before(place: _Place) -> None:
    while (before := place.before) is not None:
        with before.lock:
            pass
        place.before = before.before


class FairLock:
    """A lock that threads get in the order in which they came; those of ``threading`` favour whoever gave it back.

    Each waits for the one before it. One that is interrupted while it waits, such as by Ctrl-C, leaves the line: the
    one behind it then waits for the one that was before it.

    Attributes:
        lock: held by the thread whose turn it is.
    """

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self._joining = whole_lock()
        self._last = _Place()

    def run(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Run an action under the lock, and return what it returns."""
        place = _Place()
        with place.lock:
            with self._joining:
                place.before = self._last
                self._last = place
            _wait_for_those_before(place)
            with self.lock:
                return action(*arguments)

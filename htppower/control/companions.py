"""Objects that live as long as a controller, next to its sessions: thermal caps, status files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")


class Companions:
    """Calls back when their controller is closed, and in a forked child, with no lock of ``time.locks`` held."""

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._companions: tuple[tuple[Callable[[], object], Callable[[], object]], ...] = ()
        self._closed = False

    def add(self, closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        """Call back once the sessions are closed, or in a forked child; return what ends that.

        Raises:
            SessionClosed: the controller is closed.
        """
        made = (closed, disowned)

        def remove() -> None:
            with self._lock:
                self._companions = tuple(other for other in self._companions if other is not made)

        with self._lock:
            if self._closed:
                raise SessionClosed("the controller is closed: make a new one")
            self._companions = (*self._companions, made)
        return remove

    def flush(self) -> None:
        """Do nothing: no companion has anything to write while a call hangs."""

    def close(self) -> None:
        """Close each: the sessions are closed."""
        with self._lock:
            self._closed = True
        for closed, _ in self._companions:
            try:
                closed()
            except Exception:
                # The rest is closed all the same.
                _LOGGER.exception("%r failed at the end of a controller", closed)

    def disown(self) -> None:
        """Have each do nothing in a forked child."""
        self._lock = whole_lock()
        self._closed = True
        for _, disowned in self._companions:
            disowned()

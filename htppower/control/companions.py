"""Companions: the objects that are closed with a controller, such as thermal caps and status files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")


class Companions:
    """The callbacks of the companions, for the close of a controller and for a forked child.

    When they are called, no lock of ``time.locks`` is held.
    """

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._companions: tuple[tuple[Callable[[], object], Callable[[], object]], ...] = ()
        self._closed = False

    def add(self, closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        """Add a callback for the time after the sessions are closed, and one for a forked child.

        Return a function that removes both.

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
        """Do nothing, since no companion has data that must be written while a call hangs."""

    def close(self) -> None:
        """Close each companion, after the sessions."""
        with self._lock:
            self._closed = True
        for closed, _ in self._companions:
            try:
                closed()
            except Exception:
                # The other companions must be closed even if this one fails.
                _LOGGER.exception("%r failed at the end of a controller", closed)

    def disown(self) -> None:
        """In a forked child: let each companion stop without any action."""
        self._lock = whole_lock()
        self._closed = True
        for _, disowned in self._companions:
            disowned()

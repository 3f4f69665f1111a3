"""What lives as long as a controller beside its sessions: thermal caps, status files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")


@attrs.frozen(eq=False, repr=False)
class _Companion:
    closed: Callable[[], object]
    disowned: Callable[[], object]


class Companions:
    """Calls back when their controller is closed, and in a forked child, with no lock of ``time.locks`` held."""

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._companions: tuple[_Companion, ...] = ()
        self._closed = False

    def add(self, closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        """Call back once the sessions are closed, or in a forked child; return what ends that.

        Raises:
            SessionClosed: the controller is closed.
        """
        made = _Companion(closed, disowned)
        with self._lock:
            if self._closed:
                raise SessionClosed("the controller is closed: make a new one")
            self._companions = (*self._companions, made)
        return lambda: self._remove(made)

    def flush(self) -> None:
        """Do nothing: no companion has anything to write while a call hangs."""

    def close(self) -> None:
        """Tell each that the sessions are closed."""
        with self._lock:
            self._closed = True
        for companion in self._companions:
            try:
                companion.closed()
            except Exception:
                # It must not keep the rest from being let go of.
                _LOGGER.exception("%r failed at the end of a controller", companion.closed)

    def disown(self) -> None:
        """In a forked child: tell each."""
        self._lock = whole_lock()
        self._closed = True
        for companion in self._companions:
            companion.disowned()

    def _remove(self, companion: _Companion) -> None:
        with self._lock:
            self._companions = tuple(other for other in self._companions if other is not companion)

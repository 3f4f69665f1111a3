"""The end of a controller: closes its sessions, and then the parts that the sessions used."""

from __future__ import annotations

import contextlib
import threading
import time as clock
from typing import TYPE_CHECKING, Protocol

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.control.core.engine import ENGINES
from htppower.control.core.line import Urgency
from htppower.control.event_bus import LONGEST_FLUSH_S
from htppower.control.time.locks import is_held
from htppower.control.time.workers import start_apart
from htppower.errors import CloseTimedOut, HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.closer import Closer
    from htppower.control.core.home import Home
    from htppower.control.time.base import Time
    from htppower.control.time.locks import Lock


class Part(Protocol):
    """A part of a controller that is closed once the votes are down."""

    def flush(self) -> object:
        """Write pending data, since a native call hangs and the process may end now."""

    def close(self) -> object:
        """Release all resources."""

    def disown(self) -> object:
        """In a forked child: leave all files and threads to the parent."""


@attrs.define(eq=False, repr=False)
class Ending:
    """Closes one controller.

    Args:
        home: the parts that the controller's sessions share.
        closer: closes its sessions.
        time: clock and alarms.
        parts: the parts to close once the votes are down, in this order.
        ended: called last.
        owns_backend, owns_time: whether the controller has made them, and so closes them.

    Attributes:
        ended: whether the controller is closed.
    """

    _home: Home
    _closer: Closer
    _time: Time
    _parts: tuple[Part, ...]
    _tell_ended: Callable[[], object]
    _owns_backend: bool = attrs.field(kw_only=True)
    _owns_time: bool = attrs.field(kw_only=True)
    # Held while the parts are closed. A thread takes it before every other lock.
    _lock: Lock = attrs.field(init=False, factory=whole_lock)  # type: ignore[assignment]  # as in ``locks``
    _was_last: bool = attrs.field(init=False, default=False)
    ended: bool = attrs.field(init=False, default=False)

    def close(self, timeout_s: float | None) -> None:
        """Close the controller.

        Raises:
            CloseTimedOut, VoteRejected: as ``VoteController.close`` says.
        """
        self._home.registry.closed = True
        if self._home.engine.may_wait:
            self._close(timeout_s)
        else:
            self._time.call_soon(self._close_on_a_thread)

    def disown(self) -> None:
        """In a forked child: leave the ids, the files and the threads to the parent."""
        self.ended = True
        for part in self._parts:
            part.disown()
        self._home.events.disown()
        self._home.registry.disown()
        self._home.engine.disown()

    def _close_on_a_thread(self) -> None:
        thread = threading.Thread(target=self._close_quietly, name="htppower-close", daemon=True)
        start_apart(thread.start)

    def _close_quietly(self) -> None:
        # The failures of this close are logged, since no caller waits for it.
        with contextlib.suppress(HtpPowerError):
            self._close(None)

    def _close(self, timeout_s: float | None) -> None:
        if self.ended:
            return
        end_s = None if timeout_s is None else clock.monotonic() + timeout_s
        try:
            failures = self._closer.close_all(self._home.registry.all(), timeout_s)
        except CloseTimedOut:
            for part in self._parts:
                part.flush()
            raise
        if not self._home.registry.sessions and not is_held(self._lock):
            # A second thread that closes, such as the one that ends the process, waits here for the first.
            left_s = _left_s(end_s)
            if not self._lock.acquire(timeout=-1 if left_s is None else left_s):
                raise CloseTimedOut(timeout_s or 0.0, (), self._home.engine.calls_under_way)
            try:
                if not self.ended:
                    self._end(end_s, timeout_s or 0.0)
            finally:
                self._lock.release()
        self._home.raise_first(failures)

    def _end(self, end_s: float | None, timeout_s: float) -> None:
        request = self._home.engine.submit(self._leave_engine, Urgency.CLOSE)
        if not request.wait(_left_s(end_s)):
            raise CloseTimedOut(timeout_s, (), self._home.engine.calls_under_way)
        events = self._home.events
        events.deliver()
        for part in self._parts:
            part.close()
        events.flush(LONGEST_FLUSH_S)
        events.close()
        if self._was_last and self._owns_time:
            self._time.close()
        self.ended = True
        self._tell_ended()

    def _leave_engine(self) -> None:
        """Leave the engine, after one more attempt to destroy orphaned ids. The line is held."""
        engine = self._home.engine
        if self._home in engine.homes:
            engine.recovery.destroy_orphans()
            if self._owns_backend:
                self._home.calls.backend.close()
            self._was_last = ENGINES.leave(engine, self._home)


def _left_s(end_s: float | None) -> float | None:
    """Return the time until a deadline on the monotonic clock; None without a deadline."""
    return None if end_s is None else max(0.0, end_s - clock.monotonic())

"""The protocol of time: a clock, and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from htppower.backends.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.workers import Worker


class Time(Clock, Protocol):
    """A clock with alarms. The real one is in ``scheduler.py``, the one for tests in ``htppower.testing``."""

    def now_ns(self) -> int:
        """Return the time in nanoseconds; the hot path uses it, since a method takes half the time of a property."""

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action once, at the deadline or soon after it, never before it; return a value for ``cancel``.

        The action must be short: it must neither make a native call nor wait for one.
        """

    def cancel(self, alarm: Any) -> None:
        """Cancel an alarm; if it has run or is cancelled already, do nothing."""

    def start(self) -> None:
        """Get ready for ``call_soon``; called before the first phase of a session. ``close`` undoes this."""

    def call_soon(self, action: Callable[[], object], ignored: Any = None, /) -> None:
        """Run a short action soon on another thread.

        It takes no lock and starts no thread, so a finalizer may call it anywhere. It is a C function, so no signal
        handler interrupts it. It ignores a second argument.
        """

    def worker(self, name: str) -> Worker:
        """Return a new worker of that name; the caller closes it."""

    def close(self) -> None:
        """Stop all alarms: none rings from now on."""

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
        """Return the time in nanoseconds: for the hot path, where a property takes twice as long as a method."""

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action once, at the deadline or soon after, never before; return what ``cancel`` takes.

        The action is short: it makes no native call, and waits for nothing that does.
        """

    def cancel(self, alarm: Any) -> None:
        """Cancel an alarm; one that has run or was cancelled is left alone."""

    def start(self) -> None:
        """Get ready for ``call_soon``; called before the first phase of a session. ``close`` undoes it."""

    def call_soon(self, action: Callable[[], object], ignored: Any = None, /) -> None:
        """Run a short action soon, on another thread.

        It takes no lock and starts nothing, so a finalizer may call it anywhere. It is a C function, which no signal
        handler interrupts, and it ignores a second argument.
        """

    def worker(self, name: str) -> Worker:
        """Return a worker of that name; its user closes it."""

    def close(self) -> None:
        """Run no alarm from now on."""

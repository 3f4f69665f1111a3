"""What the controller asks of time: a clock, and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from htppower.backends.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.workers import Worker


class Time(Clock, Protocol):
    """A clock with alarms. The real one is in ``scheduler.py``, the one for tests in ``testing.py``."""

    def now_ns(self) -> int:
        """Return the time in nanoseconds: for the hot path, where a property takes twice as long as a method."""

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Any:
        """Run the action once, at the deadline or soon after, never before; return what ``cancel`` takes."""

    def cancel(self, alarm: Any) -> None:
        """Take an alarm back; one that has run or was cancelled is left alone."""

    def start(self) -> None:
        """Make ready for ``call_soon``; called before the first phase of a session. ``close`` undoes it."""

    def call_soon(self, action: Callable[[], object], ignored: Any = None, /) -> None:
        """Run the action soon, on another thread.

        It takes no lock and starts nothing, so that it may be called while an object is garbage collected, whatever
        the thread was about. It is a C function, which no exception such as Ctrl-C can interrupt, and takes no notice
        of a second argument.
        """

    def spawn(self, action: Callable[[], object], *, may_wait: bool = False) -> None:
        """Run the action soon, side by side with others: it may make native calls.

        Args:
            action: what to run.
            may_wait: whether it may wait for a call of another thread; it then keeps no other action from running.
        """

    def worker(self, name: str) -> Worker:
        """Return a worker of that name, for what must keep nobody waiting; whoever asks for it closes it."""

    def close(self) -> None:
        """Run no alarm from now on."""

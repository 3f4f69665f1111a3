"""The protocol of time: a clock, and alarms; and how alarms are armed, so that a failure is logged."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Protocol

from htppower.backends.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.workers import Worker

_LOGGER = logging.getLogger("htppower")


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
        """Run no alarm from now on."""


class WaitingTime(Time, Protocol):
    """A time that also lets a thread wait. A pace needs it."""

    def wait_until(self, at_us: int) -> None:
        """Wait on the calling thread until this time; alarms may run meanwhile."""


def armed_or_none(time: Time, at_us: int, action: Callable[[], None], purpose: str) -> Any:
    """Arm an optional alarm; return a value for ``Time.cancel``, or None if no thread can be started.

    A failure is logged with the ``purpose`` of the alarm. It is not logged at the very end of a process, when no thread
    can be started, but all parts are closed soon anyway.
    """
    try:
        return time.call_at(at_us, action)
    except RuntimeError as error:
        if threading.main_thread().is_alive():
            _LOGGER.warning("no timer for %s, as no thread can be started: %s", purpose, error)
        return None


def armed_or_logged(time: Time, at_us: int, action: Callable[[], None], lost: str, *args: object) -> Any:
    """Arm an alarm; return a value for ``Time.cancel``, or None if the alarm can't be armed for any reason.

    ``lost`` is the message for the log in that case, and ``args`` are its arguments.
    """
    try:
        return time.call_at(at_us, action)
    except Exception:
        _LOGGER.exception(lost, *args)
        return None


class SingleAlarm:
    """An alarm that is armed at most once at a time. It has no lock: its user must hold one.

    Args:
        time: clock and alarms.
        purpose: what the alarm is for; shown in the log if it can't be armed.
        action: called when the alarm rings.
    """

    __slots__ = ("_action", "_alarm", "_purpose", "_time", "at_us")

    def __init__(self, time: Time, purpose: str, action: Callable[[], None]) -> None:
        self._time = time
        self._purpose = purpose
        self._action = action
        self._alarm: Any = None
        self.at_us = 0

    @property
    def armed(self) -> bool:
        """Whether the alarm is armed."""
        return self._alarm is not None

    def arm(self, at_us: int) -> None:
        """Arm the alarm, unless it is armed for an earlier time."""
        if self._alarm is not None:
            if self.at_us <= at_us:
                return
            self.disarm()
        self.at_us = at_us
        self._alarm = armed_or_logged(self._time, at_us, self._action, "no timer for %s", self._purpose)

    def disarm(self) -> None:
        """Cancel the alarm; also called after it has rung."""
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            self._time.cancel(alarm)

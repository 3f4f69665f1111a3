"""Arming alarms: what happens where none can be armed, and alarms of which one is armed at a time."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")


def armed_or_none(time: Time, at_us: int, action: Callable[[], None], purpose: str) -> Any:
    """Arm an alarm that can be done without; return what ``Time.cancel`` takes, or None where no thread can be started.

    That is so at the very end of a process, where everything is closed soon; before that it is logged.

    ``purpose``: what it is for, as the log says.
    """
    try:
        return time.call_at(at_us, action)
    except RuntimeError as error:
        if threading.main_thread().is_alive():
            _LOGGER.warning("no timer for %s, as no thread can be started: %s", purpose, error)
        return None


def armed_or_logged(time: Time, at_us: int, action: Callable[[], None], lost: str, *args: object) -> Any:
    """Arm an alarm; return what ``Time.cancel`` takes, or None where it can't be armed, whatever the reason is.

    ``lost``: what the log says then, with ``args`` put in.
    """
    try:
        return time.call_at(at_us, action)
    except Exception:
        _LOGGER.exception(lost, *args)
        return None


class SingleAlarm:
    """An alarm of which at most one is armed at a time. Who uses it has the line.

    Args:
        time: has the alarms.
        purpose: what it is for, as the log says if none can be armed.
        action: called when it rings.
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
        """Whether one is armed."""
        return self._alarm is not None

    def arm(self, at_us: int) -> None:
        """Arm it, in place of one that rings later."""
        if self._alarm is not None:
            if self.at_us <= at_us:
                return
            self.disarm()
        self.at_us = at_us
        self._alarm = armed_or_logged(self._time, at_us, self._action, "no timer for %s", self._purpose)

    def disarm(self) -> None:
        """Cancel it; also called when it has rung."""
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            self._time.cancel(alarm)

"""Arming alarms: what happens where none can be armed, and alarms of which one is armed at a time."""

from __future__ import annotations

import functools
import logging
import threading
from typing import TYPE_CHECKING, Any

from htppower.control.time.interrupts import is_from_outside

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
        if is_from_outside(error):
            raise
        if threading.main_thread().is_alive():
            _LOGGER.warning("no timer for %s, as no thread can be started: %s", purpose, error)
        return None


def armed_or_logged(time: Time, at_us: int, action: Callable[[], None], lost: str, *args: object) -> Any:
    """Arm an alarm; return what ``Time.cancel`` takes, or None where it can't be armed, whatever the reason is.

    ``lost``: what the log says then, with ``args`` put in.
    """
    try:
        return time.call_at(at_us, action)
    except Exception as error:
        if is_from_outside(error):
            raise
        _LOGGER.exception(lost, *args)
        return None


class SingleAlarm:
    """An alarm of which one is armed at a time. A lock of whoever has it is held.

    Args:
        time: has the alarms.
        purpose: what it is for, as the log says where none can be armed; whoever arms next tries again.
    """

    __slots__ = ("_alarm", "_number", "_purpose", "_taken_back", "_time")

    def __init__(self, time: Time, purpose: str) -> None:
        self._time = time
        self._purpose = purpose
        self._alarm: Any = None
        # Those of the alarm that was armed last, and of the last one that was taken back.
        self._number = self._taken_back = 0

    @property
    def armed(self) -> bool:
        """Whether one is armed."""
        return self._alarm is not None

    def arm(self, at_us: int, action: Callable[[int], None]) -> None:
        """Arm one where none is; its action is called with its number, for ``rang``."""
        if self._alarm is None:
            self._number += 1
            ring = functools.partial(action, self._number)
            self._alarm = armed_or_logged(self._time, at_us, ring, "no timer for %s", self._purpose)

    def rang(self, number: int) -> bool:
        """Take in that an alarm rings; return whether anything is to come of it.

        Nothing is of one that was taken back when it had begun to ring. One in which an exception from outside has come
        is run again, and goes on unless another was armed since.
        """
        if number <= self._taken_back or (number != self._number and self._alarm is not None):
            return False
        self._alarm = None
        return True

    def disarm(self) -> None:
        """Take back what is armed."""
        # First: one that is taken back must not count as armed where an exception comes meanwhile.
        alarm, self._alarm = self._alarm, None
        self._taken_back = self._number
        if alarm is not None:
            self._time.cancel(alarm)

    def disown(self) -> None:
        """In a forked child: the alarm is the parent's."""
        self._alarm = None

"""Alarms where none can be armed, as at the very end of a process, when no thread can be started."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any

from htppower.control.core.interrupts import is_from_outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")


def arm(time: Time, at_us: int, action: Callable[[], None], lacks: str, *told: object) -> Any:
    """Arm an alarm; return what ``Time.cancel`` takes, or None where none can be armed, as the log says then.

    Args:
        time: has the alarms.
        at_us: when it rings.
        action: what it does.
        lacks: what is without it then, and what comes of that, in words.
        *told: the values for the places in these.
    """
    try:
        return time.call_at(at_us, action)
    except Exception as error:
        if is_from_outside(error):
            raise
        _LOGGER.exception("no timer for %s", lacks % told)
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
            self._alarm = arm(self._time, at_us, functools.partial(action, self._number), self._purpose)

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

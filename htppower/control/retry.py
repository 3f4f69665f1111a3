"""When to try again: the back-off after a failed call, and how long a dead DSP is left alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from htppower.control.from_outside import is_from_outside
from htppower.errors import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected

_LOGGER = logging.getLogger("htppower")

# A dead DSP may cost an inference no more than one failed call per second.
FIRST_RETRY_US = 1_000_000
LONGEST_RETRY_US = 8_000_000


class Retry:
    """One alarm for all that is left to retry: after 1, 2, 4, 8, 8, ... s. The registry's lock protects it."""

    def __init__(self, time: Time, retry: Callable[[int], None]) -> None:
        self._time = time
        self._retry = retry
        self._delay_us = FIRST_RETRY_US
        self._alarm: Any = None
        # Tells the alarm that is armed from one that was cancelled when it had already begun to ring.
        self._number = 0
        self._closed = False
        self._dead_until_us = 0
        self.error: VoteRejected | None = None

    @property
    def waiting(self) -> bool:
        """Whether the DSP is dead and not to be called yet."""
        return self._dead_until_us > 0 and self._time.now_us < self._dead_until_us

    @property
    def pending(self) -> bool:
        """Whether a retry is coming."""
        return self._alarm is not None

    def failed(self, error: VoteRejected) -> None:
        """Note a failure: see to it that a retry is coming."""
        self.error = kept(error)
        self.go_on()

    def died(self, error: VoteRejected) -> None:
        """Note that the DSP is dead: it is left alone until the next retry."""
        if not self.waiting:
            self.stop()
            self._dead_until_us = self._time.now_us + self._delay_us
        self.failed(error)

    def go_on(self) -> None:
        """See to it that a retry is coming."""
        if self._alarm is None and not self._closed:
            self._number += 1
            number = self._number
            try:
                self._alarm = self._time.call_at(self._time.now_us + self._delay_us, lambda: self._retry(number))
            except Exception as error:
                if is_from_outside(error):
                    raise
                # No thread can be started, as at the very end of a process; the next failure tries again.
                _LOGGER.exception("no timer for a retry")

    def rang(self, number: int) -> bool:
        """Take in that an alarm rings, and return whether it is the one that is armed."""
        if self._alarm is None or number != self._number:
            return False
        self._alarm = None
        self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)
        return True

    def revived(self) -> None:
        """Note that the DSP is there again: it may be called at once."""
        self._dead_until_us = 0

    def recovered(self) -> None:
        """Note that nothing is left to retry."""
        self._delay_us = FIRST_RETRY_US
        self._dead_until_us = 0
        self.error = None
        self.stop()

    def stop(self) -> None:
        """Take the alarm back."""
        if self._alarm is not None:
            self._time.cancel(self._alarm)
            self._alarm = None

    def close(self) -> None:
        """Retry nothing from now on."""
        self._closed = True
        self.stop()

    def disown(self) -> None:
        """In a forked child: the alarm is the parent's."""
        self._alarm = None

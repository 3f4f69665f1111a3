"""When to try again: the back-off after a failed call, and how long a dead DSP is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.codes import SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.errors import VoteRejected
    from htppower.timing import Time

# A dead DSP may cost an inference no more than one failed call per second.
FIRST_RETRY_US = 1_000_000
LONGEST_RETRY_US = 8_000_000
# A subsystem that restarts again while it is being voted again is left to the back-off after this many rounds.
MOST_RESTARTS_IN_A_ROW = 3


class Backoff:
    """One alarm for all sessions that are UNKNOWN: after 1, 2, 4, 8, 8, ... s. The controller's lock protects it."""

    def __init__(self, time: Time, retry: Callable[[], None]) -> None:
        self._time = time
        self._retry = retry
        self._delay_us = FIRST_RETRY_US
        self._alarm: Any = None
        self._dead_until_us = 0
        self.error: VoteRejected | None = None

    @property
    def waiting(self) -> bool:
        """Whether the DSP is dead and not to be called yet."""
        return self._time.now_us < self._dead_until_us

    @property
    def pending(self) -> bool:
        """Whether a retry is coming."""
        return self._alarm is not None

    def failed(self, error: VoteRejected | None) -> None:
        """Note a failure: see to it that a retry is coming, and that a dead DSP is left alone until then.

        None stands for a call of which it is not known what became of it.
        """
        self.error = error
        retry_us = self._time.now_us + self._delay_us
        if error is not None and error.code == SYSTEM_COMMUNICATION_FATAL:
            self._dead_until_us = retry_us
            self.stop()
        if self._alarm is None:
            self._alarm = self._time.call_at(retry_us, self._rang)
            self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)

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

    def disown(self) -> None:
        """In a forked child: the alarm is the parent's."""
        self._alarm = None

    def _rang(self) -> None:
        self._alarm = None
        self._retry()

"""Checks every native call, every event and every log record, and keeps none of them.

A recorder would keep each call, so that memory would grow during a soak.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from htppower import State, VoteRejected
from htppower.events import Cause, SessionOpened, Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from soak.tally import Tally

    from htppower.backends.base import Backend, Description
    from htppower.events import Event
    from htppower.votes.vote_set import VoteSet

    Answer = TypeVar("Answer")

# How late a lowering may be on a busy machine; an idle machine lowers within 2 ms.
BOUND_US = 250_000


class WatchedBackend:
    """Counts the calls to another backend and the failed ones, and checks that calls never overlap."""

    def __init__(self, inner: Backend, tally: Tally) -> None:
        self._inner = inner
        self._tally = tally
        self._lock = threading.Lock()

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Pass on a createPowerConfigId."""
        return self._call(lambda: self._inner.create_power_config_id(device_id, core_id))

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Pass on a setPowerConfig."""
        self._call(lambda: self._inner.set_power_config(power_config_id, votes))

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Pass on a destroyPowerConfigId."""
        self._call(lambda: self._inner.destroy_power_config_id(power_config_id))

    def renew(self) -> None:
        """Pass on a renewal."""
        self._call(self._inner.renew)

    def describe(self) -> Description:
        """Return the description of the backend behind."""
        return self._inner.describe()

    def close(self) -> None:
        """Close the backend behind."""
        self._inner.close()

    def _call(self, call: Callable[[], Answer]) -> Answer:
        self._tally.count("calls")
        alone = self._lock.acquire(blocking=False)
        if not alone:
            self._tally.breach("calls", "two native calls at the same time")
        try:
            return call()
        except VoteRejected:
            self._tally.count("calls that failed")
            raise
        finally:
            if alone:
                self._lock.release()


class OrderWatch:
    """A subscriber that checks that the order of events rises, by one each time if it receives every event."""

    def __init__(self, tally: Tally, *, gapless: bool) -> None:
        self._tally = tally
        self._gapless = gapless
        self._order: int | None = None
        self._time_us = 0

    def __call__(self, event: Event) -> None:
        """Check an event."""
        before, self._order = self._order, event.order
        if before is not None and (event.order <= before or (self._gapless and event.order != before + 1)):
            self._tally.breach("events", f"order {event.order} after {before}")
        if event.time_us < self._time_us:
            self._tally.breach("events", f"order {event.order} is of {event.time_us} us, after {self._time_us} us")
        self._time_us = event.time_us


class StateWatch:
    """A subscriber that records the states of each session, and checks how late its votes are lowered."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._states: dict[int, State] = {}

    @property
    def states(self) -> dict[int, State]:
        """The sessions that were opened and not destroyed, with their last states."""
        return dict(self._states)

    def __call__(self, event: Event) -> None:
        """Check an event."""
        self._tally.count("events")
        if isinstance(event, SessionOpened):
            self._states[event.session] = State.UNVOTED
        elif isinstance(event, Transition):
            self._follow(event)

    def _follow(self, event: Transition) -> None:
        expected = self._states.get(event.session)
        if event.source is not expected:
            was = "not open" if expected is None else expected.value
            self._tally.breach("events", f"session {event.session} was {was}, and is told to leave {event.source}")
        self._states[event.session] = event.dest
        if event.dest is State.DESTROYED:
            del self._states[event.session]
        self._tally.count(f"{event.trigger}")
        if event.trigger is Trigger.LOWER and event.late_us is not None and event.source is State.RAISED:
            self._time(event, event.late_us)

    def _time(self, event: Transition, late_us: int) -> None:
        self._tally.largest("late_us", late_us)
        self._tally.count("lowered by the timer", event.cause is Cause.SUSTAIN_EXPIRED)
        if not 0 <= late_us <= BOUND_US:
            self._tally.breach("lowering", f"session {event.session} was lowered {late_us} us after its deadline")


class LogWatch(logging.Handler):
    """Reads the log of htppower: failed votes and a held link are expected, an unhandled exception is not."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(logging.ERROR)
        self._tally = tally

    def emit(self, record: logging.LogRecord) -> None:
        """Check a record."""
        expected = hasattr(record, "htppower") or "keeps the dead link" in record.getMessage()
        if record.exc_info or not expected:
            error = record.exc_info[1] if record.exc_info else None
            self._tally.breach("log", f"{record.getMessage()} {error!r}")

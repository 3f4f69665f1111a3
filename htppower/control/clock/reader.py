"""The reader of a measured clock: it reads a source once a period, on a thread of its own."""
# ruff: noqa: SLF001 - it uses private parts of its controller

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part, checked_whole
from htppower.control.clock.qcnpuperf import Qcnpuperf
from htppower.control.clock.reading import LONGEST_CLOSE_S, ClockStatus
from htppower.control.context_manager import Closing
from htppower.control.time.base import SingleAlarm
from htppower.errors import printable

if TYPE_CHECKING:
    from htppower.control.clock.reading import ClockReading, ClockSource
    from htppower.control.controller import VoteController

_LOGGER = logging.getLogger("htppower.clock")

DEFAULT_PERIOD_US = 2_000_000
SHORTEST_PERIOD_US = 100_000
# A read that takes longer is reported as a problem.
LONGEST_READ_US = 5_000_000
# After the first failure in a row, the source is opened again after the first time, and then after twice the time.
FIRST_RETRY_US = 1_000_000
LONGEST_RETRY_US = 60_000_000


class ClockReader(Closing):
    """Reads the measured clock once a period, and shows it in the status, the metrics and the recording.

    The source is opened, read and closed on one thread, which does nothing else: the state of FastRPC belongs to a
    thread of the system. So a source that hangs delays no vote and no status. The first reading is taken at once, each
    other one period after the end of the last. If the source fails, the status has the reason, one WARNING is logged,
    and the source is opened again after 1, 2, 4 ... 60 s, or after a period if that is longer. A read that has not
    returned after 5 s counts as failed until it returns.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when the object is garbage
    collected. A controller may have several readers, such as one for the clock and one for the power. If two sources
    have the same name, the later one is shown with a number, such as ``libqcnpuperf #2``.

    Args:
        controller: shows the readings.
        source: where readings come from; None for Qualcomm's libqcnpuperf.
        period_us: the time between two readings, 100,000 us or more.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the period is too short.
        SessionClosed: the controller is closed.
    """

    def __init__(
        self,
        controller: VoteController,
        source: ClockSource | None = None,
        *,
        period_us: int = DEFAULT_PERIOD_US,
    ) -> None:
        checked_part(controller, "controller", ("status", "subscribe"), "a VoteController")
        self._source: ClockSource = Qcnpuperf() if source is None else source
        checked_part(self._source, "source", ("open", "read", "close"), "a source such as Qcnpuperf()")
        self._period_us = checked_whole(period_us, "period_us is", "a whole number of us")
        if self._period_us < SHORTEST_PERIOD_US:
            raise ValueError(f"period_us is {period_us}: {SHORTEST_PERIOD_US} or more")
        self._controller = controller
        self._time = controller._time
        # Held only for moments, never while the source is used.
        self._lock = whole_lock()
        self._seen = ClockStatus(self._source.name)
        self._open = self._reading = self._warned = self._closed = False
        self._retry_us = 0
        self._alarm = SingleAlarm(self._time, "a clock reader", self._rang)
        self._worker = self._time.worker("htppower-clock")
        # The controller may close this object from here on.
        self._leave_controller = controller._companions.add(self._begin_close, self._disown)
        controller._clocks.add(self, self._wait_for_close)
        self._seen = ClockStatus(self._name())
        self._worker.post(self._look)

    def status(self) -> ClockStatus:
        """Return the last reading, or why there is none; wait for nothing."""
        return self._seen

    def close(self) -> None:
        """Close the source and read no more. If the source hangs, this waits for 1 s. Closing twice has no effect."""
        self._begin_close()
        self._wait_for_close(time.monotonic() + LONGEST_CLOSE_S)

    def _begin_close(self) -> None:
        """Begin to close. The controller first begins with all of its readers, and then waits for them."""
        with self._lock:
            self._closed = True
            self._alarm.disarm()
        self._leave_controller()
        self._worker.post(self._close_source)

    def _wait_for_close(self, end_s: float) -> None:
        # If the controller has waited for another source until this time, this one may still be closed.
        if not self._worker.flush(max(0.0, end_s - time.monotonic())) and (self._open or self._reading):
            _LOGGER.warning("%s is not closed: it has not answered for %g s", self._seen.source, LONGEST_CLOSE_S)
        self._worker.close()
        self._controller._clocks.remove(self)

    def _disown(self) -> None:
        """In a forked child: leave the source and its thread to the parent."""
        self._lock = whole_lock()
        self._closed, self._open = True, False

    def _name(self) -> str:
        return self._controller._clocks.name(self, self._source.name)

    def _look(self) -> None:
        """Take a reading, and arm the alarm for the next one. Only the thread of this reader calls this."""
        if not self._arm(LONGEST_READ_US):
            return
        self._reading = True
        try:
            self._take(self._read())
            self._retry_us = 0
        except Exception as error:  # noqa: BLE001 - whatever a source does, the host must go on
            self._reading = False
            self._retry_us = min(max(FIRST_RETRY_US, 2 * self._retry_us), LONGEST_RETRY_US)
            self._fail(printable(str(error)) or type(error).__name__)
            self._close_source()
        finally:
            self._reading = False
            self._arm(max(self._period_us, self._retry_us))

    def _read(self) -> ClockReading:
        if not self._open:
            self._source.open()
            self._open = True
        return self._source.read(self._time.now_ns())

    def _take(self, reading: ClockReading) -> None:
        name = self._name()
        reading = attrs.evolve(reading, source=name)
        self._seen = ClockStatus(name, reading)
        self._warned = False
        self._controller._recorder.note_clock(reading, self._voted_corner)

    def _voted_corner(self) -> int | None:
        """Return the corner that the sessions vote for the core clock, as the vendor's number; None without a core."""
        cores = self._controller.status().cores
        return cores[0].effective.core_target if cores else None

    def _fail(self, problem: str) -> None:
        name = self._name()
        self._seen = ClockStatus(name, None, problem)
        if not self._warned:
            self._warned = True
            longest_s = max(self._period_us, LONGEST_RETRY_US) / 1_000_000
            _LOGGER.warning("no clock from %s: %s; tried again, after %g s at the latest", name, problem, longest_s)

    def _close_source(self) -> None:
        """Close the source if it is open. Only the thread of this reader calls this."""
        if self._open:
            try:
                self._source.close()
            except Exception:
                _LOGGER.exception("%s can't be closed", self._seen.source)
            finally:
                self._open = False

    def _arm(self, after_us: int) -> bool:
        """Arm the alarm; return False if this object is closed."""
        with self._lock:
            self._alarm.disarm()
            if not self._closed:
                self._alarm.arm(self._time.now_us + after_us)
            return not self._closed

    def _rang(self) -> None:
        """Begin the next reading, or report that the present one hangs."""
        if self._reading:
            self._fail(f"it has not answered for {LONGEST_READ_US / 1_000_000:g} s")
        else:
            self._worker.post(self._look)

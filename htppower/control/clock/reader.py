"""The reader of a measured clock: it reads a source once a period, on a thread of its own."""
# ruff: noqa: SLF001 - it uses private parts of its controller

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part, checked_whole
from htppower.control.clock.qcnpuperf import Qcnpuperf
from htppower.control.clock.reading import ClockStatus
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
# How long ``close`` waits for a read that runs, in seconds.
LONGEST_CLOSE_S = 1.0


class ClockReader(Closing):
    """Reads the measured clock once a period, and shows it in the status, the metrics and the recording.

    The source is opened, read and closed on one thread, which does nothing else: the state of FastRPC belongs to a
    thread of the system. So a source that hangs delays no vote and no status. The first reading is taken at once, each
    other one period after the end of the last. If the source fails, the status has the reason, one WARNING is logged,
    and the source is opened again after a period. A read that has not returned after 5 s counts as failed until it
    returns.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when the object is garbage
    collected. A controller may have several readers, such as one for the clock and one for the power.

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
        self._alarm = SingleAlarm(self._time, "a clock reader", self._rang)
        self._worker = self._time.worker("htppower-clock")
        # The controller may close this object from here on.
        self._leave_controller = controller._companions.add(self.close, self._disown)
        self._leave_status = controller._clocks.add(self.status)
        self._worker.post(self._look)

    def status(self) -> ClockStatus:
        """Return the last reading, or why there is none; wait for nothing."""
        return self._seen

    def close(self) -> None:
        """Close the source and read no more. If the source hangs, this waits for 1 s. Closing twice has no effect."""
        with self._lock:
            self._closed = True
            self._alarm.disarm()
        self._leave_status()
        self._leave_controller()
        self._worker.post(self._close_source)
        if not self._worker.flush(LONGEST_CLOSE_S):
            _LOGGER.warning("%s is not closed: it has not answered for %g s", self._source.name, LONGEST_CLOSE_S)
        self._worker.close()

    def _disown(self) -> None:
        """In a forked child: leave the source and its thread to the parent."""
        self._lock = whole_lock()
        self._closed, self._open = True, False
        self._leave_status()

    def _look(self) -> None:
        """Take a reading, and arm the alarm for the next one. Only the thread of this reader calls this."""
        self._reading = True
        if not self._arm(LONGEST_READ_US):
            return
        try:
            self._take(self._read())
        except Exception as error:  # noqa: BLE001 - whatever a source does, the host must go on
            self._reading = False
            self._fail(printable(self._said(error)) or type(error).__name__)
            self._close_source()
        finally:
            self._reading = False
            self._arm(self._period_us)

    def _said(self, error: Exception) -> str:
        """Return an error in words. The words of Python have its number, and its path escaped."""
        if not isinstance(error, OSError) or not error.strerror:
            return str(error)
        file = "" if error.filename is None else str(error.filename)
        return error.strerror if file in ("", self._source.name) else f"{file}: {error.strerror}"

    def _read(self) -> ClockReading:
        if not self._open:
            self._source.open()
            self._open = True
        return self._source.read(self._time.now_ns())

    def _take(self, reading: ClockReading) -> None:
        self._seen = ClockStatus(self._source.name, reading)
        self._warned = False
        self._controller._recorder.note_clock(reading, self._voted_corner)

    def _voted_corner(self) -> int | None:
        """Return the corner that the sessions vote for the core clock, as the vendor's number; None without a core."""
        cores = self._controller.status().cores
        return cores[0].effective.core_target if cores else None

    def _fail(self, problem: str) -> None:
        self._seen = ClockStatus(self._source.name, None, problem)
        if not self._warned:
            self._warned = True
            period_s = self._period_us / 1_000_000
            _LOGGER.warning("no clock from %s: %s; tried again every %g s", self._source.name, problem, period_s)

    def _close_source(self) -> None:
        """Close the source if it is open. Only the thread of this reader calls this."""
        if self._open:
            self._open = False
            try:
                self._source.close()
            except Exception:
                _LOGGER.exception("%s can't be closed", self._source.name)

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

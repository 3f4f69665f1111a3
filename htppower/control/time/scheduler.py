"""The system's time: the monotonic clock, and alarms on APScheduler.

APScheduler keeps deadlines by the wall clock, and a step of the wall clock would lower votes an hour early or never. So
its scheduler gets a time zone that shows the monotonic clock. A job takes half a KiB of memory, and 100 us to add
(measured), so all alarms are in a heap, and a single job wakes for the earliest alarm.

Only the thread of ``call_soon`` uses the heap and the scheduler. Arming an alarm puts it into that thread's queue,
without a lock, so an interrupted thread leaves no lock behind. That thread also runs the alarms, so they must be short:
the engine's worker makes the native calls.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import heapq
import logging
import time
from typing import TYPE_CHECKING

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers import SchedulerNotRunningError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger

from htppower.backends.clock import MonotonicClock, monotonic_ns
from htppower.backends.forks import call_in_forked_children
from htppower.control.time.workers import ThreadWorker, run_and_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.clock import Clock

_EPOCH = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - naive: the zone below is added to it
_ZERO = datetime.timedelta(0)
# The largest datetime stands for every later deadline. No clock reaches it.
_LATEST_US = (datetime.datetime.max - _EPOCH) // datetime.timedelta(microseconds=1)  # noqa: DTZ901 - as the epoch
# Cancelled alarms stay in the heap until it has twice as many alarms as after the last removal, and at least this many.
_FIRST_LOOK = 64
# While no thread can be started, due alarms are looked for at this interval.
_NO_THREAD_S = 0.01
_LOGGER = logging.getLogger("htppower.sustain")
# APScheduler writes four INFO records for each job, two of them on a logger named after the executor. They are switched
# off.
_EXECUTOR = "htppower"
logging.getLogger(f"apscheduler.executors.{_EXECUTOR}").setLevel(logging.WARNING)
_SCHEDULER_LOGGER = logging.getLogger("htppower.sustain.apscheduler")
_SCHEDULER_LOGGER.setLevel(logging.WARNING)


class _MonotonicZone(datetime.tzinfo):
    """A time zone that shows the epoch plus the monotonic clock, whatever the wall clock shows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def utcoffset(self, _when: datetime.datetime | None) -> datetime.timedelta:
        return _ZERO

    def dst(self, _when: datetime.datetime | None) -> datetime.timedelta:
        return _ZERO

    def tzname(self, _when: datetime.datetime | None) -> str:
        return "monotonic"

    def fromutc(self, _when: datetime.datetime) -> datetime.datetime:
        """Return the time for ``datetime.now(zone)``."""
        return self.at(self._clock.now_us)

    def at(self, time_us: int) -> datetime.datetime:
        return (_EPOCH + datetime.timedelta(microseconds=time_us)).replace(tzinfo=self)


class Alarm:
    """An action and its deadline.

    Args:
        deadline_us: when it is due.
        action: the action; None once it has run or is cancelled.
    """

    __slots__ = ("action", "deadline_us")

    def __init__(self, deadline_us: int, action: Callable[[], object] | None) -> None:
        self.deadline_us = deadline_us
        self.action = action

    def __lt__(self, other: Alarm) -> bool:
        return self.deadline_us < other.deadline_us


class SystemTime(MonotonicClock):
    """The monotonic clock with alarms.

    It has a thread, which starts with the first session, and APScheduler's thread, which starts with the first alarm
    that is not due at once. Both are daemons.
    """

    def __init__(self) -> None:
        self._worker = ThreadWorker("htppower-time", _LOGGER)
        self._zone = _MonotonicZone(self)
        self._begin()
        call_in_forked_children(SystemTime._forked, self)

    def _begin(self) -> None:
        self.call_soon = self._worker.post_unlocked
        self._alarms: list[Alarm] = []
        self._look_at = _FIRST_LOOK
        # When the job wakes.
        self._wake_us: int | None = None
        self._scheduler: BackgroundScheduler | None = None

    def _forked(self) -> None:
        """In a forked child: forget the threads and the alarms, which exist only in the parent."""
        self._worker.disown()
        self._begin()

    def now_ns(self) -> int:
        """Return the monotonic time."""
        return monotonic_ns()

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Alarm:
        """Run the action at the deadline or soon after, never before it.

        Raises:
            RuntimeError: no thread can be started, as at the very end of a process.
        """
        self._worker.start()
        alarm = Alarm(deadline_us, action)
        self.call_soon(functools.partial(self._arm, alarm))
        return alarm

    def cancel(self, alarm: Alarm) -> None:
        """Cancel an alarm; if it has run or is cancelled already, do nothing."""
        alarm.action = None

    def wait_until(self, at_us: int) -> None:
        """Wait on the calling thread until this time."""
        while (early_us := at_us - self.now_us) > 0:
            time.sleep(early_us / 1_000_000)

    def start(self) -> None:
        """Start the thread of ``call_soon``. If it can't be started, pending actions wait until it can."""
        try:
            self._worker.start()
        except RuntimeError as error:
            _LOGGER.warning("no thread can be started (%s): background work waits until one can", error)

    def worker(self, name: str) -> ThreadWorker:
        """Return a worker with its own thread."""
        return ThreadWorker(name)

    def close(self) -> None:
        """Stop all alarms; do not wait for an action that runs."""
        self.call_soon(self._end)
        self._worker.close()

    def _end(self) -> None:
        self._alarms = []
        if self._scheduler is not None:
            with contextlib.suppress(SchedulerNotRunningError):
                self._scheduler.shutdown(wait=False)

    def _arm(self, alarm: Alarm) -> None:
        heapq.heappush(self._alarms, alarm)
        if len(self._alarms) > self._look_at:
            self._alarms = [each for each in self._alarms if each.action is not None]
            heapq.heapify(self._alarms)
            self._look_at = max(_FIRST_LOOK, 2 * len(self._alarms))
        self._run_due()

    def _run_due(self) -> None:
        while self._alarms and self._alarms[0].deadline_us <= self.now_us:
            alarm = heapq.heappop(self._alarms)
            action, alarm.action = alarm.action, None
            if action is not None:
                run_and_log(action, _LOGGER)
        if self._alarms:
            self._wake_at(min(self._alarms[0].deadline_us, _LATEST_US))

    def _wake_at(self, deadline_us: int) -> None:
        """Let the job wake at a deadline, unless it wakes earlier anyway."""
        if self._wake_us is not None and self.now_us < self._wake_us <= deadline_us:
            return
        if self._scheduler is None:
            # The job only puts an action into a queue, so it may run on the thread of the scheduler.
            executors = {_EXECUTOR: DebugExecutor()}
            defaults = {"misfire_grace_time": None}
            scheduler = BackgroundScheduler(
                executors=executors, job_defaults=defaults, timezone=self._zone, daemon=True, logger=_SCHEDULER_LOGGER
            )
            try:
                scheduler.start()
            except RuntimeError:
                # No thread can be started now. This thread looks for due alarms instead, and does nothing else.
                time.sleep(_NO_THREAD_S)
                self.call_soon(self._run_due)
                return
            self._scheduler = scheduler
        trigger = DateTrigger(self._zone.at(deadline_us), self._zone)
        self._scheduler.add_job(self._ring, trigger, id="wake", replace_existing=True, executor=_EXECUTOR)
        self._wake_us = deadline_us

    def _ring(self) -> None:
        self.call_soon(self._rang)

    def _rang(self) -> None:
        self._wake_us = None
        self._run_due()

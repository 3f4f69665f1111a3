"""The system's time: the monotonic clock, and alarms on APScheduler.

APScheduler keeps deadlines by the wall clock, and a step of that would lower votes an hour early or never. So the
scheduler is given a time zone in which it is always the time of the monotonic clock. Its other traps, each measured:
a job id that is still running drops the next job of that id, so every alarm has a new one; jobs later than a second
are dropped by default, so no lateness is too much; at exit and at shutdown pending jobs are lost, so closing lowers
synchronously and does not count on an alarm.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import logging
import threading
from typing import TYPE_CHECKING

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers import SchedulerNotRunningError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger

from htppower.timing import MonotonicClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.timing import Clock

_EPOCH = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - naive: the zone below is put on it
_ZERO = datetime.timedelta(0)
_EXECUTOR = "htppower"
_LOGGER = logging.getLogger("htppower.sustain")


class _MonotonicZone(datetime.tzinfo):
    """A time zone in which it is always the epoch plus the monotonic clock, whatever the wall clock says."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def utcoffset(self, _when: datetime.datetime | None) -> datetime.timedelta:
        return _ZERO

    def dst(self, _when: datetime.datetime | None) -> datetime.timedelta:
        return _ZERO

    def tzname(self, _when: datetime.datetime | None) -> str:
        return "monotonic"

    def fromutc(self, _when: datetime.datetime) -> datetime.datetime:
        """Answer ``datetime.now(zone)``."""
        return self.at(self._clock.now_us)

    def at(self, time_us: int) -> datetime.datetime:
        return (_EPOCH + datetime.timedelta(microseconds=time_us)).replace(tzinfo=self)


class SystemTime(MonotonicClock):
    """The monotonic clock with alarms. Its threads start with the first alarm, and are daemons."""

    def __init__(self) -> None:
        self._zone = _MonotonicZone(self)
        self._lock = threading.Lock()
        self._scheduler: BackgroundScheduler | None = None
        self._numbers = itertools.count()
        self._closed = False

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> str:
        """Run the action at the deadline, on the scheduler's one thread, never before it."""
        alarm = str(next(self._numbers))
        scheduler = self._running()
        if scheduler is not None:
            trigger = DateTrigger(self._zone.at(deadline_us), self._zone)
            scheduler.add_job(action, trigger, id=alarm, name=alarm, executor=_EXECUTOR)
        return alarm

    def cancel(self, alarm: str) -> None:
        """Take an alarm back; one that has run or was cancelled is left alone."""
        with self._lock:
            scheduler = self._scheduler
        if scheduler is not None:
            with contextlib.suppress(JobLookupError):
                scheduler.remove_job(alarm)

    def close(self) -> None:
        """Run no alarm from now on; one that is running is not waited for."""
        with self._lock:
            self._closed = True
            scheduler, self._scheduler = self._scheduler, None
        if scheduler is not None:
            with contextlib.suppress(SchedulerNotRunningError):
                # shutdown alone changes the scheduler's state under the feet of its thread, which then fails to find
                # the job that it has just run. Paused it finds it; removing all waits for the thread to be done.
                scheduler.pause()
                scheduler.remove_all_jobs()
                scheduler.shutdown(wait=False)

    def _running(self) -> BackgroundScheduler | None:
        with self._lock:
            if self._scheduler is None and not self._closed:
                self._scheduler = _make_scheduler(self._zone)
                self._scheduler.start()
            return self._scheduler


def _make_scheduler(zone: _MonotonicZone) -> BackgroundScheduler:
    # APScheduler writes four INFO records a job, under loggers that this one can be told apart from.
    quiet = logging.getLogger("htppower.sustain.apscheduler")
    for logger in (quiet, logging.getLogger(f"apscheduler.executors.{_EXECUTOR}")):
        logger.setLevel(logging.WARNING)
    scheduler = BackgroundScheduler(
        timezone=zone,
        daemon=True,
        logger=quiet,
        executors={_EXECUTOR: ThreadPoolExecutor(1)},
        job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
    )
    scheduler.add_listener(_log_failure, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
    return scheduler


def _log_failure(event: JobExecutionEvent) -> None:
    exception = getattr(event, "exception", None)
    _LOGGER.error("alarm %s did not run to its end: a vote may stay up: %r", event.job_id, exception or event)

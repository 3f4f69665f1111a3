"""The system's time: the monotonic clock, and alarms on APScheduler.

APScheduler keeps deadlines by the wall clock, and a step of that would lower votes an hour early or never. So the
scheduler is given a time zone in which it is always the time of the monotonic clock. Its other traps, each measured:
its executors drop a job that is later than a second, or whose id is still running, and its thread pool takes no job any
more once the main thread has ended, although worker threads may infer on, so an executor of our own hands every job to
our threads; at exit and at shutdown pending jobs are lost, so closing lowers synchronously and does not count on an
alarm.

A job weighs half a KiB and takes 100 us to add. So the alarms are kept here, and one job wakes for the earliest.
"""

from __future__ import annotations

import contextlib
import datetime
import heapq
import itertools
import logging
import time
from typing import TYPE_CHECKING

from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers import SchedulerNotRunningError
from apscheduler.triggers.date import DateTrigger

from htppower.backends.clock import MonotonicClock
from htppower.backends.forks import call_in_forked_children
from htppower.control.time.locks import Rank, UnlockedLogger, make_lock
from htppower.control.time.thread_pool import ThreadPool
from htppower.control.time.whole_scheduler import Scheduler
from htppower.control.time.workers import ThreadWorker, run_and_log, start_apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.clock import Clock

_EPOCH = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - naive: the zone below is put on it
_ZERO = datetime.timedelta(0)
# What lies beyond the calendar of datetime wakes at its end. No clock gets there.
_LATEST_US = (datetime.datetime.max - _EPOCH) // datetime.timedelta(microseconds=1)  # noqa: DTZ901 - as the epoch
# So many alarms that were taken back are kept before they are looked for.
MOST_CANCELLED = 64
_LOGGER = logging.getLogger("htppower.sustain")
# APScheduler writes four INFO records a job; it is given a logger of our own, and its own are left as they are.
_SCHEDULER_LOGGER = UnlockedLogger(logging.getLogger("htppower.sustain.apscheduler"), {})
_SCHEDULER_LOGGER.setLevel(logging.WARNING)


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


class Alarm:
    """An action and when it is due; it is run once, unless it is taken back before.

    Args:
        deadline_us: when.
        action: what; None once it is run or taken back. Where an exception came in it, it may be run again.
    """

    __slots__ = ("action", "deadline_us")

    def __init__(self, deadline_us: int, action: Callable[[], object] | None) -> None:
        self.deadline_us = deadline_us
        self.action = action

    def __lt__(self, other: Alarm) -> bool:
        return self.deadline_us < other.deadline_us

    def __call__(self) -> None:
        """Run the action."""
        action = self.action
        try:
            self.action = None
            if action is not None:
                action()
        except BaseException:
            self.action = action
            raise


class SystemTime(MonotonicClock):
    """The monotonic clock with alarms.

    Alarms run on the threads of a pool, the first of which starts with the first session; the scheduler's own starts
    with the first alarm that lies ahead. All are daemons.
    """

    def __init__(self) -> None:
        self._pool = ThreadPool("htppower-votes", _LOGGER)
        # Of its own for what waits for others' calls, as many coroutines may: alarms need a thread that is free.
        self._waiting = ThreadPool("htppower-waiting", _LOGGER)
        # Hands what was posted without a lock on to the pool.
        self._worker = ThreadWorker("htppower-soon", _LOGGER, run=self._run)
        self.call_soon = self._worker.post_unlocked
        self._zone = _MonotonicZone(self)
        self._numbers = itertools.count()
        self._closed = False
        self._begin()
        call_in_forked_children(SystemTime._forked, self)

    def _begin(self) -> None:
        """Have no alarm."""
        self._lock = make_lock(Rank.TIME)
        # What lies ahead, a heap by deadline; how many of it were taken back; and when the job wakes, with its id.
        self._alarms: list[Alarm] = []
        self._cancelled = 0
        self._wake: tuple[int, str] | None = None
        self._scheduler: Scheduler | None = None

    def _forked(self) -> None:
        """In a forked child: the threads are the parent's, with the alarms. What is spawned has threads there, too."""
        self._pool.disown()
        self._waiting.disown()
        self._begin()

    def now_ns(self) -> int:
        """Return the monotonic time."""
        return time.monotonic_ns()

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> Alarm:
        """Run the action at the deadline, on a thread of the pool, never before it."""
        alarm = Alarm(deadline_us, action)
        # Where no thread can be started this raises: run here, the action might wait for a lock of the caller's.
        self._worker.start()
        with self._lock:
            if not self._closed:
                if deadline_us <= self.now_us:
                    self._pool.post(alarm)
                else:
                    heapq.heappush(self._alarms, alarm)
                    try:
                        self._wake_in_time()
                    except BaseException:
                        # Nobody has it, so nobody could take it back.
                        alarm.action = None
                        self._cancelled += 1
                        raise
        return alarm

    def cancel(self, alarm: Alarm) -> None:
        """Take an alarm back; one that has run or was cancelled is left alone."""
        with self._lock:
            if alarm.action is not None:
                alarm.action = None
                self._cancelled += 1
            # What is taken back is left in the heap until it is due, or the better half of it.
            if self._cancelled > max(MOST_CANCELLED, len(self._alarms) // 2):
                self._alarms = _not_cancelled(self._alarms)
                heapq.heapify(self._alarms)
                self._cancelled = 0

    def start(self) -> None:
        """Start the thread on which alarms run; where none can be, as at the very end of a process, do without.

        What is to run soon waits then, until a later session or alarm finds that one can.
        """
        try:
            self._worker.start()
        except RuntimeError as error:
            _LOGGER.warning("what is to run in the background waits: no thread can be started (%s)", error)

    def spawn(self, action: Callable[[], object], *, may_wait: bool = False) -> None:
        """Run the action soon, on a pool; on the thread of ``call_soon`` where no thread is free or can start."""
        try:
            (self._waiting if may_wait else self._pool).post(action)
        except RuntimeError:
            self._worker.post_or_run(action)

    def worker(self, name: str) -> ThreadWorker:
        """Return a worker with a thread of its own."""
        return ThreadWorker(name)

    def close(self) -> None:
        """Run no alarm from now on; one that is running is not waited for."""
        self._worker.close()
        self._pool.close()
        self._waiting.close()
        with self._lock:
            self._closed = True
            self._alarms = []
            scheduler, self._scheduler = self._scheduler, None
        if scheduler is not None:
            with contextlib.suppress(SchedulerNotRunningError):
                # shutdown alone changes the scheduler's state under the feet of its thread, which then fails to find
                # the job that it has just run. Paused it finds it; removing all waits for the thread to be done.
                scheduler.pause()
                scheduler.remove_all_jobs()
                scheduler.shutdown(wait=False)

    def _run(self, action: Callable[[], object]) -> None:
        """Run what was posted without a lock, on a thread of the pool if there is one."""
        try:
            self._pool.post(action)
        except RuntimeError:
            run_and_log(action, _LOGGER)

    def _hand_on(self, action: Callable[[], object]) -> None:
        """Hand on what is due: the thread of the scheduler holds a lock that arming an alarm waits for."""
        try:
            self._pool.post(action)
        except RuntimeError:
            self.call_soon(action)

    def _wake_in_time(self) -> None:
        """See to it that a job wakes for the earliest alarm. The lock is held."""
        if not self._alarms:
            return
        deadline_us, before = min(self._alarms[0].deadline_us, _LATEST_US), self._wake
        if before is not None and self.now_us < before[0] <= deadline_us:
            return
        if self._scheduler is None:
            scheduler = Scheduler(self._hand_on, timezone=self._zone, daemon=True, logger=_SCHEDULER_LOGGER)
            start_apart(scheduler.start)
            self._scheduler = scheduler
        job = str(next(self._numbers))
        trigger = DateTrigger(self._zone.at(deadline_us), self._zone)
        self._scheduler.add_job(self._ring, trigger, id=job, name=job)
        self._wake = (deadline_us, job)
        # Last: where an exception comes before, the earlier job wakes for nothing.
        if before is not None:
            with contextlib.suppress(JobLookupError):
                self._scheduler.remove_job(before[1])

    def _ring(self) -> None:
        """Run what is due; the first of it on this thread, which is one of the pool."""
        first: list[Alarm] = []
        try:
            with self._lock:
                self._hand_on_due(first)
                self._wake_in_time()
            if first:
                run_and_log(first[0], _LOGGER)
        except BaseException:
            # It was taken out: where this is run again, it is not found.
            if first:
                self.call_soon(first[0])
            raise

    def _hand_on_due(self, first: list[Alarm]) -> None:
        """Hand on what is due, but for the first. The lock is held."""
        now_us = self.now_us
        while self._alarms and self._alarms[0].deadline_us <= now_us:
            # Once it is handed on it may ring at once.
            alarm = self._alarms[0]
            cancelled = alarm.action is None
            # Handed on before it is taken out: it rings once, whatever comes between.
            if first:
                self._hand_on(alarm)
            else:
                first.append(alarm)
            heapq.heappop(self._alarms)
            self._cancelled -= cancelled


def _not_cancelled(alarms: list[Alarm]) -> list[Alarm]:
    return [each for each in alarms if each.action is not None]

"""A scheduler of APScheduler that an exception from outside leaves whole: its locks, its jobs and its thread.

Alarms are armed on the threads of a host. Where such an exception, as Ctrl-C, hit one of them in the locks that a
scheduler has of its own, or in the event by which it wakes its thread, no alarm would ring any more; nor where it hit
that thread, as ``PyThreadState_SetAsyncExc`` may.
"""

from __future__ import annotations

import functools
import queue
import threading
from typing import TYPE_CHECKING, Any

from apscheduler.executors.base import BaseExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import STATE_STOPPED

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.workers import start_apart

if TYPE_CHECKING:
    import datetime
    from _thread import RLock
    from collections.abc import Callable

    from apscheduler.job import Job

# When it looks again for jobs that it could not get. They are kept in memory: only such an exception makes that fail.
_RETRY_S = 0.01


class _Bell:
    """What ``threading.Event`` is to a scheduler, with functions in C in the place of its lock.

    Attributes:
        set: wakes who waits, or who waits next.
    """

    def __init__(self) -> None:
        self._rings: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.set = functools.partial(self._rings.put, None)

    def is_set(self) -> bool:
        """Return whether it has rung since it was cleared."""
        return not self._rings.empty()

    def wait(self, timeout_s: float | None) -> None:
        """Wait until it rings, or for so long; None for as long as it takes."""
        try:
            self._rings.get(timeout=timeout_s)
        except queue.Empty:
            return
        # Cleared by the one who waits.
        self._rings.put(None)

    def clear(self) -> None:
        """Forget that it has rung."""
        while not self._rings.empty():
            self._rings.get()


class _OffThread(BaseExecutor):  # type: ignore[misc]
    """Hands jobs to other threads, so that neither arming an alarm nor another job waits for one that runs.

    Attributes:
        handed_on: the id of the job that was handed on last.
    """

    def __init__(self, hand_on: Callable[[Callable[[], object]], object]) -> None:
        super().__init__()
        self._hand_on = hand_on
        self.handed_on = ""

    def submit_job(self, job: Job, run_times: list[datetime.datetime]) -> None:
        """Hand a job on, however late. Its runs are not counted: each job has an id of its own, and runs once."""
        self._do_submit_job(job, run_times)

    def _do_submit_job(self, job: Job, _run_times: list[datetime.datetime]) -> None:
        self._hand_on(job.func)
        self.handed_on = job.id


class Scheduler(BackgroundScheduler):  # type: ignore[misc]
    """A scheduler with such locks and such a bell, whose thread is replaced where such an exception ends it.

    Args:
        hand_on: is given what each job runs; a job may be handed on twice.
        options: APScheduler's.
    """

    def __init__(self, hand_on: Callable[[Callable[[], object]], object], **options: Any) -> None:
        self._off_thread = _OffThread(hand_on)
        super().__init__(executors={"default": self._off_thread}, jobstore_retry_interval=_RETRY_S, **options)
        # Where there is one, it makes none.
        self._event = _Bell()

    def _create_lock(self) -> RLock:
        return whole_lock()

    def remove_job(self, job_id: str, jobstore: str | None = None) -> None:
        """Remove a job, as the thread of the scheduler does with the name of the store once it has handed the job on.

        Where such an exception comes before that, it logs this, and drops the job: so it is handed on here.
        """
        if jobstore is not None and self._off_thread.handed_on != job_id:
            job, _ = self._lookup_job(job_id, jobstore)
            self._off_thread.submit_job(job, [])
        super().remove_job(job_id, jobstore)

    def wakeup(self) -> None:
        """Have the thread look at its jobs, or another, where that was ended in its first instructions."""
        super().wakeup()
        if self._thread is not None and not self._thread.is_alive():
            self._replace_thread()

    def _main_loop(self) -> None:
        try:
            super()._main_loop()
        finally:
            if self.state != STATE_STOPPED:
                # It looks at its jobs at once.
                self._event.set()
                self._replace_thread()

    def _replace_thread(self) -> None:
        thread = threading.Thread(target=self._main_loop, name="APScheduler", daemon=True)
        start_apart(thread.start)
        self._thread = thread

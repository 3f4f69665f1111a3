"""Workers: each runs actions one after the other, off the thread that asks for them."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Protocol

from htppower.backends.forks import call_in_forked_children

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")


class Worker(Protocol):
    """Runs actions one after the other, in the order in which they were posted."""

    @property
    def pending(self) -> int:
        """How many actions wait."""

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, without waiting for it; what it raises is logged."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run; return whether it has within the time."""

    def keep(self, idle_s: float | None) -> None:
        """From now on, end the thread after so long without an action; None keeps it until the worker is closed."""

    def close(self) -> None:
        """Run what was posted, and nothing from then on."""

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them, before ``post`` returns."""


class ThreadWorker:
    """Runs actions on a daemon thread of its own, which starts with the first of them.

    ``post_unlocked`` puts an action into the queue and does nothing else. It is a C function without a lock, so a
    finalizer may call it anywhere, and no signal handler interrupts it. ``start`` must have been called before.

    Args:
        name: the name of the thread.
        logger: receives what an action raises.
        idle_s: the thread ends after so long without an action; None keeps it until ``close``.
    """

    def __init__(self, name: str, logger: logging.Logger = _LOGGER, idle_s: float | None = None) -> None:
        self._name = name
        self._logger = logger
        self._idle_s = idle_s
        self._begin()
        call_in_forked_children(ThreadWorker.disown, self)

    def _begin(self) -> None:
        self._actions: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self.post_unlocked = self._actions.put
        # The thread that pops the one entry is the worker's. A thread that finds none ends at once, so that two threads
        # may be started at the same time.
        self._vacancy: deque[None] = deque([None])
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._closed = False

    def start(self) -> None:
        """Start the thread, if none runs.

        Raises:
            RuntimeError: no thread can be started, as at the very end of a process.
        """
        if self._vacancy and not self._closed:
            thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            start_apart(thread.start)

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them: no thread runs, and none can be started."""
        try:
            self.start()
        except RuntimeError:
            return True
        return False

    @property
    def pending(self) -> int:
        """How many actions wait; the one that runs is not counted."""
        return self._actions.qsize()

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, on the thread; at once if no thread can be started. A closed worker runs nothing."""
        if self._closed:
            return
        self._actions.put(action)
        try:
            self.start()
        except RuntimeError:
            self._run_here()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run; not on the thread itself, which would wait for itself."""
        if self._thread is threading.current_thread() or (self._vacancy and (self._closed or self._actions.empty())):
            return True
        if self._closed:
            return self._ended.wait(timeout_s)
        done = threading.Event()
        self._actions.put(done.set)
        return done.wait(timeout_s)

    def keep(self, idle_s: float | None) -> None:
        """From now on, end the thread after so long without an action."""
        self._idle_s = idle_s
        if not self._vacancy:
            # The thread waits for as long as it was told before.
            self._actions.put(_nothing)

    def close(self) -> None:
        """Run what was posted, then end the thread; it is not waited for."""
        self._closed = True
        self._actions.put(None)

    def disown(self) -> None:
        """In a forked child: the thread, and what it was to run, are the parent's."""
        self._begin()

    def _work(self) -> None:
        try:
            self._vacancy.pop()
        except IndexError:
            return
        self._thread = threading.current_thread()
        while (action := self._next()) is not None:
            try:
                run_and_log(action, self._logger)
            except BaseException:
                # Such as SystemExit: it ends the action, and not this thread.
                with contextlib.suppress(BaseException):
                    self._logger.exception("%r failed", action)
            # A thread that waits must keep nothing of what it ran alive.
            del action
        self._ended.set()

    def _next(self) -> Callable[[], object] | None:
        """Wait for an action; return None once the worker is closed, or when the thread has been idle for long."""
        while True:
            try:
                return self._actions.get(timeout=self._idle_s)
            except queue.Empty:
                self._vacancy.append(None)
            # An action may have been put since, by a thread that still saw this one at work.
            if self._actions.empty() or not self._vacancy_taken():
                return None

    def _vacancy_taken(self) -> bool:
        try:
            self._vacancy.pop()
        except IndexError:
            return False
        return True

    def _run_here(self) -> None:
        while self._vacancy:
            try:
                action = self._actions.get_nowait()
            except queue.Empty:
                return
            if action is not None:
                run_and_log(action, self._logger)


def _nothing() -> None:
    """Do nothing."""


def start_apart(start: Callable[[], object]) -> None:
    """Start a thread outside the context (``contextvars``) of this one.

    On a free-threaded CPython a new thread gets a copy of the context. What it runs later for others would then count
    as part of the request in which it was started, and would keep that request alive.
    """
    contextvars.Context().run(start)


def run_and_log(action: Callable[[], object], logger: logging.Logger) -> None:
    """Run an action on a thread of ours, and log what it raises."""
    try:
        action()
    except Exception:
        # A filter or a handler of the host's may raise, too; the thread lives on.
        with contextlib.suppress(Exception):
            logger.exception("%r failed", action)

"""Workers: each worker runs actions one after the other on its own thread."""

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
    """Runs actions one after the other, in the order of posting."""

    @property
    def pending(self) -> int:
        """How many actions wait."""

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, without waiting for it; log its exception."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until all posted actions have run; return whether they have run within the timeout."""

    def keep(self, idle_s: float | None) -> None:
        """From now on, end the thread after this time without an action; None keeps the thread until ``close``."""

    def close(self) -> None:
        """Run the posted actions, and accept no more."""

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them, before ``post`` returns."""


class ThreadWorker:
    """Runs actions on its own daemon thread, which starts with the first action.

    ``post_unlocked`` only puts an action into the queue. It is a C function without a lock, so a finalizer may call it
    anywhere, and no signal handler interrupts it. Call ``start`` first.

    Args:
        name: the name of the thread.
        logger: logs exceptions of actions.
        idle_s: the thread ends after this time without an action; None keeps the thread until ``close``.
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
        # Has one entry, a permit. The thread that pops the entry becomes the worker's thread; a thread that finds no
        # entry ends at once. So it does no harm if two threads are started at the same time.
        self._vacancy: deque[None] = deque([None])
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._closed = False

    def start(self) -> None:
        """Start the thread, unless it runs.

        Raises:
            RuntimeError: no thread can be started, as at the very end of a process.
        """
        if self._vacancy and not self._closed:
            thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            start_apart(thread.start)

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them, since the worker's thread can't be started."""
        try:
            self.start()
        except RuntimeError:
            return True
        return False

    @property
    def pending(self) -> int:
        """How many actions wait, not counting the action that runs."""
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
        """Wait until all posted actions have run.

        On the worker's own thread this does not wait, since it would wait for itself.
        """
        if self._thread is threading.current_thread() or (self._vacancy and (self._closed or self._actions.empty())):
            return True
        if self._closed:
            return self._ended.wait(timeout_s)
        done = threading.Event()
        self._actions.put(done.set)
        return done.wait(timeout_s)

    def keep(self, idle_s: float | None) -> None:
        """From now on, end the thread after this time without an action."""
        self._idle_s = idle_s
        if not self._vacancy:
            # Wakes the thread, which still waits with the old timeout.
            self._actions.put(_nothing)

    def close(self) -> None:
        """Run the posted actions, then end the thread; this does not wait for the end."""
        self._closed = True
        self._actions.put(None)

    def disown(self) -> None:
        """In a forked child: forget the thread and the posted actions, which the parent runs."""
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
                # An exception such as SystemExit must end only the action, not this thread.
                with contextlib.suppress(BaseException):
                    self._logger.exception("%r failed", action)
            # While the thread waits, it must not keep the objects of its last action alive.
            del action
        self._ended.set()

    def _next(self) -> Callable[[], object] | None:
        """Wait for an action; return None if the worker is closed or the thread has been idle for too long."""
        while True:
            try:
                return self._actions.get(timeout=self._idle_s)
            except queue.Empty:
                self._vacancy.append(None)
            # Another thread may have put an action just now, and started no thread because this one still ran.
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
    """Do nothing: an action that only wakes the thread."""


def start_apart(start: Callable[[], object]) -> None:
    """Start a thread outside the context (``contextvars``) of this one.

    On a free-threaded CPython a new thread gets a copy of the context. Later actions for other requests would then run
    in the context of the request that started the thread, and would keep that request alive.
    """
    contextvars.Context().run(start)


def run_and_log(action: Callable[[], object], logger: logging.Logger) -> None:
    """Run an action on a thread of the controller, and log its exception."""
    try:
        action()
    except Exception:
        # A log filter or handler of the host may raise an error, too, which must not end this thread.
        with contextlib.suppress(Exception):
            logger.exception("%r failed", action)

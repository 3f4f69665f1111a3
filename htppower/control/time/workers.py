"""Workers: they run actions one after the other, off the thread that asks for them."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import itertools
import logging
import queue
import threading
from typing import TYPE_CHECKING, Protocol

from htppower.backends.forks import call_in_forked_children
from htppower.control.time.interrupts import is_from_outside
from htppower.control.time.locks import Rank, make_lock

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")
# Of an action that an exception from outside comes in each time.
MOST_RUNS = 3


class Worker(Protocol):
    """What runs actions one after the other, in the order in which they were posted."""

    @property
    def pending(self) -> int:
        """How many actions wait to be run."""

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, without waiting for it; what it raises is logged."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run, and return whether it has within the time."""

    def close(self) -> None:
        """Run what was posted, and nothing from then on."""

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them, before ``post`` returns."""


class ThreadWorker:
    """Runs actions on a daemon thread of its own, which starts with the first of them.

    Args:
        name: the thread's.
        logger: is told what an action raises.
        run: takes each action and runs it; with None, the worker's own thread does.
    """

    def __init__(
        self,
        name: str,
        logger: logging.Logger = _LOGGER,
        run: Callable[[Callable[[], object]], object] | None = None,
    ) -> None:
        self._name = name
        self._logger = logger
        self._carry_out = run
        self._actions: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        # A C function: safe while an object is garbage collected, and nothing can interrupt it.
        self.post_unlocked = self._actions.put
        self._lock = make_lock(Rank.WORKER)
        self._thread: threading.Thread | None = None
        # Whoever pops this is the worker's thread, of two where an interrupt came before the first was noted. It holds
        # what that thread runs first: what the one before has left.
        self._vacancy: list[list[Callable[[], object]]] = [[]]
        self._closed = False
        call_in_forked_children(ThreadWorker.disown, self)

    @property
    def inline(self) -> bool:
        """Whether actions run on the thread that posts them: none can be started, which is tried first."""
        if self._thread is None:
            try:
                self.start()
            except RuntimeError:
                return True
        return False

    @property
    def pending(self) -> int:
        """How many actions wait to be run; the one that runs is not counted."""
        return self._actions.qsize()

    def start(self) -> None:
        """Start the thread, if it does not run yet, or has ended in its first instructions.

        Raises:
            RuntimeError: none can be started, as at the very end of a process.
        """
        with self._lock:
            vacant = self._thread is None or (self._vacancy and not self._thread.is_alive())
            if vacant and not self._closed:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                start_apart(thread.start)
                self._thread = self._thread or thread

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, on the thread; at once where none can be started.

        Once the worker is closed, nothing is run.
        """
        if self._thread is None:
            try:
                self.start()
            except RuntimeError:
                run_and_log(action, self._logger)
                return
        if not self._closed:
            self._actions.put(action)

    def post_or_run(self, action: Callable[[], object]) -> None:
        """Run the action soon, on the thread; at once once the worker is closed, or where no thread can be started."""
        try:
            self.start()
        except RuntimeError:
            run_and_log(action, self._logger)
            return
        # Under the lock, so that it comes before what ends the thread, or not at all.
        with self._lock:
            if not self._closed:
                self._actions.put(action)
                return
        run_and_log(action, self._logger)

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything that was posted has run; not on the thread itself, which would wait for itself."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        if self._closed:
            thread.join(timeout_s)
            return not thread.is_alive()
        done = threading.Event()
        self._actions.put(done.set)
        return done.wait(timeout_s)

    def close(self) -> None:
        """Run what was posted, then end the thread; it is not waited for."""
        with self._lock:
            self._closed = True
            self._actions.put(None)

    def disown(self) -> None:
        """In a forked child: the thread is the parent's. What is posted is not run, or run at once."""
        self._lock = make_lock(Rank.WORKER)
        self._thread = None
        self._closed = True

    def _work(self) -> None:
        try:
            taken = self._vacancy.pop()
        except IndexError:
            return
        ended = False
        try:
            self._thread = threading.current_thread()
            ended = self._work_off(taken)
        finally:
            if not ended:
                # An exception from outside has come on this thread: another takes its place.
                self._replace(taken)

    def _work_off(self, taken: list[Callable[[], object]]) -> bool:
        """Run actions until told to end, and return True; ``taken`` holds the one that runs."""
        actions = iter(self._actions.get, None)
        while True:
            if not taken:
                # In C: nothing can come between the queue and the list.
                taken.extend(itertools.islice(actions, 1))
            if not taken:
                return True
            action = taken[0] if self._carry_out is None else functools.partial(self._carry_out, taken[0])
            run_whatever(action, self._logger)
            # A frame that waits must keep nothing of what it ran alive.
            del action
            taken.clear()

    def _replace(self, taken: list[Callable[[], object]]) -> None:
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        if self._closed:
            # What tells the thread to end may have been taken.
            self._actions.put(None)
        self._vacancy.append(taken)
        start_apart(thread.start)


def start_apart(start: Callable[[], object]) -> None:
    """Start threads that have no part in the context (``contextvars``) of this one.

    On a CPython without the interpreter's lock a new thread has a copy of it: what is run there later for others would
    be taken for a part of the request in which a thread was started, and would keep that alive.
    """
    contextvars.Context().run(start)


def run_whatever(action: Callable[[], object], logger: logging.Logger) -> None:
    """Run an action on a thread of ours, which lives on whatever it raises, also where the log itself raises.

    Where an exception from outside has come in the middle, the action is run again.
    """
    for _ in range(MOST_RUNS):
        try:
            run_and_log(action, logger)
        except BaseException:
            with contextlib.suppress(BaseException):
                logger.exception("%r failed", action)
        else:
            return


def run_and_log(action: Callable[[], object], logger: logging.Logger) -> None:
    """Run an action, and log what it raises, but for what comes from outside."""
    try:
        action()
    except Exception as error:
        if is_from_outside(error):
            raise
        logger.exception("%r failed", action)

"""A pool of threads: it runs actions side by side, off the thread that asks for them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from htppower.control.time.locks import Rank, make_lock
from htppower.control.time.workers import run_whatever, start_apart

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")


class ThreadPool:
    """Runs actions side by side, each on a daemon thread that is free; one is started where none is, up to 64.

    A thread that has nothing to do for ``IDLE_S`` ends.

    Args:
        name: the threads'.
        logger: is told what an action raises.
    """

    MOST_THREADS = 64
    IDLE_S = 10.0

    def __init__(self, name: str, logger: logging.Logger = _LOGGER) -> None:
        self._name = name
        self._logger = logger
        self._begin()

    def _begin(self) -> None:
        self._actions: deque[Callable[[], object]] = deque()
        # Taken by itself: an exception from outside may come within the condition's own ``with``, once it is taken.
        self._lock = make_lock(Rank.WORKER)
        self._changed = threading.Condition(self._lock)  # type: ignore[arg-type]  # an RLock
        # A set, and no count: a thread may end that an interrupt has kept from being added.
        self._threads: set[threading.Thread] = set()
        self._idle: set[threading.Thread] = set()
        self._closed = False

    def post(self, action: Callable[[], object]) -> None:
        """Run the action soon, on a thread of the pool; never on this one.

        Raises:
            RuntimeError: no thread is free and none can be started, as at the very end of a process, or the pool is
                closed.
        """
        thread: threading.Thread | None = None
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the threads {self._name} have ended")
            if len(self._idle) <= len(self._actions):
                thread = self._new_thread()
            self._actions.append(action)
            self._changed.notify()
        if thread is None:
            return
        try:
            self._start(thread)
        except RuntimeError:
            with self._lock:
                if action in self._actions:
                    self._actions.remove(action)
                    raise

    def _new_thread(self) -> threading.Thread | None:
        """Return a thread that counts already and is to be started, None where there are enough. The lock is held."""
        if len(self._threads) >= self.MOST_THREADS:
            return None
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        self._threads.add(thread)
        return thread

    def _start(self, thread: threading.Thread) -> None:
        """Start a thread that counts already; where it can't be started it counts no more.

        Without the lock: this waits until the thread runs, which one that ``PyThreadState_SetAsyncExc`` hits as it
        begins never does. Others go on posting and closing meanwhile.
        """
        try:
            start_apart(thread.start)
        except BaseException:
            with self._lock:
                if not thread.is_alive():
                    self._threads.discard(thread)
            raise

    def close(self) -> None:
        """Run what was posted, then end the threads; they are not waited for."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def disown(self) -> None:
        """In a forked child: the threads are the parent's, and so is what they were to run. It has others."""
        self._begin()

    def _work(self) -> None:
        taken: list[Callable[[], object]] = []
        ended = False
        try:
            # A condition at its head would leave its jump back outside of this block, on CPython 3.12 and 3.13.
            while True:
                if not self._next(taken):
                    break
                run_whatever(taken[0], self._logger)
                # A frame that waits must keep nothing of what it ran alive.
                taken.clear()
            ended = True
        finally:
            if not ended:
                # An exception from outside has come on this thread: another takes its place.
                self._replace(taken)

    def _next(self, taken: list[Callable[[], object]]) -> bool:
        """Wait for an action and take it; return False where there is none for long, or ever."""
        thread = threading.current_thread()
        with self._lock:
            self._idle.add(thread)
            self._changed.wait_for(lambda: self._actions or self._closed, self.IDLE_S)
            self._idle.discard(thread)
            if self._actions:
                # First: what is run twice is better than what is lost.
                taken.append(self._actions[0])
                self._actions.popleft()
                return True
            # No other thread counts on this one from here on.
            self._threads.discard(thread)
            return False

    def _replace(self, taken: list[Callable[[], object]]) -> None:
        """Count this thread no more, and have another run what it leaves."""
        thread = threading.current_thread()
        with self._lock:
            self._idle.discard(thread)
            self._threads.discard(thread)
            self._actions.extendleft(taken)
            following = self._new_thread() if self._actions else None
            # This thread may stand among those that wait still: who posts next would wake it in the place of another.
            self._changed.notify_all()
        if following is not None:
            self._start(following)

"""The line: the one lock around native calls, and the order of the requests that wait for it.

The device library holds a lock during each remote call. If a second call is made while it rebuilds its link, the link
stays dead (measured on the library for devices). So only one thread at a time runs a step, and it keeps the line for
all calls of the step.

A request runs on the calling thread, or is handed to the engine's worker. The order is: raises, lowerings, closings,
heartbeats; requests of one kind are served in order of arrival. At most 16 later requests overtake an earlier one, so
votes can't stay up forever in a busy line.
"""

from __future__ import annotations

import contextlib
import enum
import functools
from _thread import allocate_lock, get_ident
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_OVERTAKING = 16
# Stands for the holder from the moment when the line is given to a request until the worker runs it.
_HANDED = -1


class Urgency(enum.IntEnum):
    """How urgent a request is; the lowest number goes first."""

    RAISE = 0
    LOWER = 1
    CLOSE = 2
    HEARTBEAT = 3


class _Place:
    """The place of a request in the line."""

    __slots__ = ("ahead", "order", "served", "thread", "urgency")

    def __init__(self, urgency: Urgency, thread: int = _HANDED) -> None:
        self.urgency = urgency
        self.thread = thread
        self.order = self.ahead = self.served = 0


class _Thread(_Place):
    """A thread that waits for the line to run its step itself."""

    __slots__ = ("granted",)

    def __init__(self, urgency: Urgency) -> None:
        super().__init__(urgency, get_ident())
        self.granted = allocate_lock()
        self.granted.acquire()


class Request(_Place):
    """A step that the worker runs.

    Args:
        action: the step.
        urgency: its urgency.
        ended: called after the step, on the same thread. It must not take long.
    """

    __slots__ = ("_action", "_ended", "_running", "error", "result")

    def __init__(self, action: Callable[[], Any], urgency: Urgency, ended: Callable[[], object] | None = None) -> None:
        super().__init__(urgency)
        self._action: Callable[[], Any] | None = action
        self._ended = ended
        self._running = allocate_lock()
        self._running.acquire()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the step, and keep its result or its exception: the worker's thread must not end."""
        action, self._action = self._action, None
        try:
            if action is not None:
                self.result = action()
        except BaseException as error:  # noqa: BLE001 - raised by ``value``
            self.error = error
        finally:
            self._running.release()
            if self._ended is not None:
                # Even if this raises, the worker passes the line on.
                with contextlib.suppress(Exception):
                    self._ended()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the step has run; return False if that takes longer than the timeout, in real seconds."""
        ended = self._running.acquire(timeout=-1 if timeout_s is None else timeout_s)
        if ended:
            self._running.release()
        return ended

    def value(self) -> Any:
        """Wait for the step, and return its result.

        Raises:
            BaseException: the exception of the step.
        """
        self.wait()
        if self.error is not None:
            try:
                raise self.error
            finally:
                # The error's traceback refers to this frame, and the frame to the error. This breaks the cycle.
                self.error = None
        return self.result


class Line:
    """The lock.

    It is not reentrant: if the thread that holds it needs a further step, it submits the step, which runs later.

    Args:
        hand: hands an action to the worker. If no worker can run the action, it returns False, and the thread that
            leaves the line runs the request.
    """

    def __init__(self, hand: Callable[[Callable[[], None]], bool]) -> None:
        self._hand = hand
        # Held only for moments: no function outside of this module is called under it.
        self._mutex = allocate_lock()
        self._holder: int | None = None
        self._waiting: tuple[deque[_Thread | Request], ...] = tuple(deque() for _ in Urgency)
        self._joined = self._served = 0

    @property
    def is_held(self) -> bool:
        """Whether this thread has the line."""
        return self._holder == get_ident()

    def run(self, action: Callable[[], Any], urgency: Urgency) -> Any:
        """Wait for the line, run an action, and return its result."""
        place = None
        with self._mutex:
            if self._holder is None:
                self._holder = get_ident()
            else:
                place = _Thread(urgency)
                self._join(place)
        if place is not None:
            self._wait(place)
        try:
            return action()
        finally:
            self._leave()

    def submit(self, request: Request) -> None:
        """Have the worker run a request, without waiting for it."""
        with self._mutex:
            self._join(request)
            if self._holder is not None:
                return
            self._holder = get_ident()
        self._leave()

    def _join(self, place: _Thread | Request) -> None:
        """Add a request to the line. The mutex is held."""
        place.order, place.served = self._joined, self._served
        place.ahead = self._joined - self._served
        self._joined += 1
        self._waiting[place.urgency].append(place)

    def _wait(self, place: _Thread) -> None:
        try:
            place.granted.acquire()
        except BaseException:
            # The main thread was interrupted at exit. Remove its request, or pass the line on if the request had its
            # turn already.
            with self._mutex:
                queued = place in self._waiting[place.urgency]
                if queued:
                    self._waiting[place.urgency].remove(place)
                    self._served += 1
            if not queued:
                self._leave()
            raise

    def _leave(self) -> None:
        """Pass the line on."""
        while True:
            with self._mutex:
                following = self._next()
                self._holder = None if following is None else following.thread
            if following is None:
                return
            if isinstance(following, _Thread):
                following.granted.release()
                return
            if self._hand(functools.partial(self._run_handed, following)):
                return
            self._holder = get_ident()
            following.run()

    def _run_handed(self, request: Request) -> None:
        """Run a request on the worker, and pass the line on."""
        self._holder = get_ident()
        request.run()
        self._leave()

    def _next(self) -> _Thread | Request | None:
        """Take the most urgent request, or the earliest one if 16 later requests have overtaken it."""
        first = None
        for queue in self._waiting:
            if queue:
                first = queue[0]
                break
        if first is None:
            return None
        earliest = min((queue[0] for queue in self._waiting if queue), key=lambda place: place.order)
        if self._served - earliest.served - earliest.ahead >= MOST_OVERTAKING:
            first = earliest
        self._waiting[first.urgency].popleft()
        self._served += 1
        return first

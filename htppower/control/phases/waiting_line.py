"""The line of what coroutines of one session wait for: it takes one thread, however many wait.

Each would wait for the session's turn on a thread of its own otherwise. Where a call of one session hangs, its
coroutines would take every thread there is for that, and those of other sessions would wait for them.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

from htppower.control.time.locks import Rank, make_lock
from htppower.control.time.workers import run_and_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")


class WaitingLine:
    """Runs actions one after the other, each of which may wait for a native call, and does nothing once it is done.

    Args:
        time: has the threads.
    """

    __slots__ = ("_actions", "_lock", "_time", "_works")

    def __init__(self, time: Time) -> None:
        self._time = time
        self._actions: deque[Callable[[], object]] = deque()
        # Protects whether a thread works on them.
        self._lock = make_lock(Rank.WORKER)
        self._works = False

    def post(self, action: Callable[[], object]) -> None:
        """Run the action after those that were posted before."""
        with self._lock:
            self._actions.append(action)
            begins, self._works = not self._works, True
        if begins:
            self._time.spawn(self._work, may_wait=True)

    def _work(self) -> None:
        ended = False
        try:
            self._work_off()
            ended = True
        finally:
            if not ended:
                # An exception from outside has come: others wait still.
                self._time.spawn(self._work, may_wait=True)

    def _work_off(self) -> None:
        # Each is taken out once it is done: where an exception comes before, it is run again.
        while (action := self._first()) is not None:
            run_and_log(action, _LOGGER)
            self._take_out(action)

    def _first(self) -> Callable[[], object] | None:
        """Return the next action; where there is none, whoever posts one has it worked on."""
        with self._lock:
            self._works = bool(self._actions)
            return self._actions[0] if self._actions else None

    def _take_out(self, action: Callable[[], object]) -> None:
        with self._lock:
            # Two threads may have run it, after such an exception.
            if self._actions and self._actions[0] is action:
                self._actions.popleft()

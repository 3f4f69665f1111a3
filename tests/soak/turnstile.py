"""A turnstile that every thread of the host passes between two acts, so that all can be stopped at once."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_WAIT_S = 30.0


class Turnstile:
    """Open until it is held.

    Args:
        threads: how many pass it.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._changed = threading.Condition()
        self._held = False
        self._waiting = 0

    def through(self) -> None:
        """Pass, or wait here while it is held."""
        if not self._held:
            return
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held, LONGEST_WAIT_S)
            self._waiting -= 1

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Stop all threads, and begin when each waits.

        Raises:
            TimeoutError: a thread did not arrive within 30 s, so it hangs.
        """
        with self._changed:
            self._held = True
            here = self._changed.wait_for(lambda: self._waiting == self._threads, LONGEST_WAIT_S)
        try:
            if not here:
                raise TimeoutError(f"{self._threads - self._waiting} threads hang in an act")
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()

"""Actions that hang until they are let go, and waiting for what happens on other threads."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 30


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds on other threads."""
    end_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0)


class Hang:
    """An action that says that it has begun, and ends when it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self) -> None:
        """Hang."""
        self.thread = threading.current_thread()
        self.begun.set()
        assert self.let_go.wait(WAIT_S)
        self.ended.set()


def start_no_thread(thread: threading.Thread) -> None:
    """Fail as ``Thread.start`` does where no thread can be started, as at the very end of a process."""
    raise RuntimeError("can't start new thread")

"""Whether a function of the host's is called in the middle of the controller's own work.

A finalizer is, where the collector runs it on a thread that is just voting. So is a signal handler, or a backend that
calls its controller. This thread may hold locks of the controller's then, and what waits for other threads, as closing
a controller does, must not wait here: they may wait for these locks. It is left to another thread.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from htppower.control.core.event_bus import Subscription
from htppower.control.time.workers import run_and_log

if TYPE_CHECKING:
    from types import FrameType

_CONTROL = "htppower.control."
# Modules that hold locks for which others wait, or make native calls, by the beginnings of their names. By name, since
# a package may have been compiled elsewhere.
_MODULES = (
    *(f"{_CONTROL}{room}." for room in ("core", "files", "learning", "recording", "status", "time")),
    *(f"{_CONTROL}{module}" for module in ("claims.claims", "phases.blocks", "phases.idle_timeout", "phases.tickets")),
    "htppower.backends.",
)
# What calls the host, or begins on a thread of the controller's, with no lock held.
_TELLS, _RUNS = Subscription._tell.__code__, run_and_log.__code__  # noqa: SLF001
# A finalizer or a handler that goes deeper than this before it ends something is not known. A frame takes 0.1 us.
_MOST_FRAMES = 32


def in_own_work() -> bool:
    """Return whether the caller of who asks was called so: the nearest frame of the controller's may hold locks."""
    # That of who asks is a function of the controller's itself.
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - inspect has no other way to it
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_code is _TELLS or frame.f_code is _RUNS:
            return False
        if _holds_locks(frame.f_globals.get("__name__", "")):
            return True
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1024)
def _holds_locks(module: str) -> bool:
    return module.startswith(_MODULES)

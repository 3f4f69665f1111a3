"""Whether a function of the host's is called in the middle of the controller's own work.

A finalizer is, where the collector runs it on a thread that is just voting. So is a signal handler, or a backend that
calls its controller. This thread may hold locks of the controller's then, and what waits for other threads, as closing
a controller does, must not wait here: they may wait for these locks. It is left to another thread.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.control.core.event_bus import Subscription
from htppower.control.time.workers import run_and_log

if TYPE_CHECKING:
    from types import FrameType

_CONTROL = Path(__file__).parent
# Where locks are taken that others wait for, or native calls are made.
_ROOMS = tuple(
    str(place)
    for place in (
        *(_CONTROL / room for room in ("core", "files", "learning", "recording", "status", "time")),
        _CONTROL / "claims" / "claims.py",
        _CONTROL / "phases" / "blocks.py",
        _CONTROL.parent / "backends",
    )
)
# What calls the host, or begins on a thread of the controller's, with no lock held.
_TELLS, _RUNS = Subscription._tell.__code__, run_and_log.__code__  # noqa: SLF001


def in_own_work() -> bool:
    """Return whether the caller was called so: the nearest frame of the controller's below it may hold locks."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect has no other way to it
    while frame is not None:
        code = frame.f_code
        if code is _TELLS or code is _RUNS:
            return False
        if code.co_filename.startswith(_ROOMS):
            return True
        frame = frame.f_back
    return False

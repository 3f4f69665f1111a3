"""Recognises finalizers and signal handlers of the host that have interrupted the controller's own work.

The garbage collector may run a finalizer on a thread that holds a gate. A signal handler may interrupt the begin or the
end of a phase. If such a function calls the controller, the call must not wait for the worker: the worker may wait for
that gate.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_CONTROL = "htppower.control."
# Modules whose functions hold a gate or another lock while they run, as prefixes of their names. Paths would not do,
# since the package may have been compiled in another place.
_HOLDING = tuple(
    f"{_CONTROL}{module}"
    for module in (
        "companions",
        "core.engine",
        "core.line",
        "registry",
        "event_bus",
        "files.",
        "gate.",
        "learning.",
        "phases.blocks",
        "phases.stream_inference",
        "phases.tickets",
        "recording.",
        "status.",
        "termination",
        "time.",
    )
)
# Functions in these modules that hold no lock while they wait for a step, run a step or call a subscriber. They are
# exceptions.
_HOLDING_NOTHING = frozenset({"wait", "value", "run", "submit", "_tell", "next_token", "anext_token"})
# The number of frames that are searched. A finalizer or a handler with more frames than this is not recognised.
_MOST_FRAMES = 32


def in_own_work() -> bool:
    """Return whether the code that calls the controller may have interrupted a function that holds a lock."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect offers no public function for this
    # Skip the controller's own functions of this call. The functions of the host that made the call come after them.
    while frame is not None and _holds(frame.f_globals.get("__name__", "")) is not None:
        frame = frame.f_back
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        holds = _holds(frame.f_globals.get("__name__", ""))
        if holds is not None:
            return holds and frame.f_code.co_name not in _HOLDING_NOTHING
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1024)
def _holds(module: str) -> bool | None:
    """Return whether functions of a module may hold a lock while they run; None for a module of the host."""
    return module.startswith(_HOLDING) if module.startswith(_CONTROL) else None

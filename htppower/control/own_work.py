"""Whether a function of the host's is called in the middle of the controller's own work.

A finalizer is, if the collector runs it on a thread that holds a gate. So is a signal handler that comes in the begin
or the end of a phase. What such a function asks of the controller must not be waited for: the worker may wait for that
gate.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_CONTROL = "htppower.control."
# Modules whose functions hold a gate or another lock while they run, by the beginnings of their names. By name, since a
# package may have been compiled elsewhere.
_HOLDING = tuple(
    f"{_CONTROL}{module}"
    for module in (
        "companions",
        "core.engine",
        "core.line",
        "core.registry",
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
# Their functions that hold nothing while they wait for a step, run it, or call a subscriber.
_HOLDING_NOTHING = frozenset({"wait", "value", "run", "submit", "_tell", "next_token", "anext_token"})
# A finalizer or a handler that goes deeper than this before it asks for something is not known.
_MOST_FRAMES = 32


def in_own_work() -> bool:
    """Return whether the function of the host's that has called the controller may have interrupted a holder."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect has no other way to it
    # First the functions of the controller's that this call passes, then those of the host's.
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
    """Return whether functions of a module hold something while they run; None for a module of the host's."""
    return module.startswith(_HOLDING) if module.startswith(_CONTROL) else None

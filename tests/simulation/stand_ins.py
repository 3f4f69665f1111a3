"""What the modules under test import in the place of ``threading``, ``queue`` and ``atexit``.

Each name is a function that asks, when it is called, whether a scheduler is followed: then it makes a lock, a thread or
a queue of that, and otherwise a real one. So it may be kept from import on, as by a field of a class.
"""

from __future__ import annotations

import queue as real_queue
import threading as real_threading
import types
from typing import TYPE_CHECKING, Any

from simulation.locks import Lock
from simulation.threads import fake_queue, fake_threading

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.scheduler import Scheduler

_scheduler: Scheduler | None = None
# What is asked for a name, by the module that it is of: the scheduler's, or the real one.
_modules: dict[str, types.ModuleType] = {"threading": real_threading, "queue": real_queue}


def follow(scheduler: Scheduler | None) -> None:
    """Make what is of this scheduler from now on; real things, with None."""
    global _scheduler  # noqa: PLW0603 - the modules under test can be handed nothing
    _scheduler = scheduler
    _modules["threading"] = real_threading if scheduler is None else fake_threading(scheduler)
    _modules["queue"] = real_queue if scheduler is None else fake_queue(scheduler)


def followed() -> Scheduler | None:
    """Return the scheduler that is followed."""
    return _scheduler


def ranked(make_lock: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes locks of a rank in the place of a function that makes real ones."""

    def make(rank: Any) -> Any:
        if _scheduler is None:
            return make_lock(rank)
        number = int(getattr(rank, "value", rank))
        return Lock(_scheduler, f"lock {getattr(rank, 'name', rank)}", reentrant=True, rank=number)

    return make


def _asks(module: str, name: str) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        return getattr(_modules[module], name)(*args, **kwargs)

    return ask


def _stand_in(module: str, names: tuple[str, ...]) -> types.ModuleType:
    made = types.ModuleType(module)
    made.__dict__.update({name: _asks(module, name) for name in names})
    return made


threading = _stand_in(
    "threading",
    ("Lock", "RLock", "Condition", "Event", "Thread", "local", "get_ident", "current_thread", "main_thread"),
)
threading.__dict__["TIMEOUT_MAX"] = real_threading.TIMEOUT_MAX
queue = _stand_in("queue", ("SimpleQueue",))
queue.__dict__["Empty"] = real_queue.Empty
# What a run makes ends with it, and not with the process.
atexit = types.ModuleType("atexit")
atexit.__dict__.update(register=lambda *_: None, unregister=lambda *_: None)

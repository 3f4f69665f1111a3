"""How the program under test is put under the scheduler. Only this file knows where the core gets its threads from.

Names in three modules of the core are replaced: the locks and thread numbers of the line and of the engine, and the
locks of the gates. Everything else comes with the time that the controller is given.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import types
from typing import TYPE_CHECKING, Any

from simulation.locks import Lock

from htppower.control import termination
from htppower.control.core import engine, line, link
from htppower.control.gate import gate
from htppower.control.plans import plans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.scheduler import Scheduler

# A controller ends with its run, and not with the process.
_NO_EXIT = types.SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)


@contextlib.contextmanager
def installed(scheduler: Scheduler) -> Iterator[None]:
    """Put the controllers that are made in this context under the scheduler."""
    numbers = itertools.count(1)

    def ident() -> int | None:
        return threading.main_thread().ident if scheduler.current.main else scheduler.current.number

    replaced: list[tuple[Any, str, Any]] = [
        (line, "allocate_lock", lambda: Lock(scheduler, f"lock {next(numbers)} of the line")),
        (line, "get_ident", lambda: scheduler.current.number),
        (engine, "get_ident", ident),
        (gate, "make_gate_lock", lambda: Lock(scheduler, f"gate {next(numbers)}", reentrant=True)),
        (termination, "atexit", _NO_EXIT),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    # The engines of earlier runs may exist until the garbage collector runs, and must not be found.
    engine.ENGINES.forked()
    for module, name, stand_in in replaced:
        setattr(module, name, stand_in)
    try:
        yield
    finally:
        for module, name, real in before:
            setattr(module, name, real)


def link_of(controller: Any) -> str:
    """Return the link's state, as the status of a controller says it. To make a status takes half of a run."""
    return str(controller._engine.recovery.link.state)


def orphans_of(controller: Any) -> set[int]:
    """Return the ids that could not be destroyed, as the status of a controller says them."""
    return set(controller._engine.recovery.orphans)


def remember() -> None:
    """Cache pure functions of the core for all runs of the process."""
    link_module: Any = link
    if isinstance(link_module.transitions, types.SimpleNamespace):
        return
    for name in ("_refuse_values", "_refuse", "_plan"):
        setattr(plans, name, _remembering(getattr(plans, name)))
    # The link is the machine's model, and the machine itself keeps no state.
    made = functools.cache(lambda: real(**given))
    real, given = link_module.transitions.Machine, dict[str, Any]()
    link_module.transitions = types.SimpleNamespace(Machine=lambda **asked: given.update(asked) or made())


def _remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    made: dict[tuple[object, ...], Any] = {}

    def remembered(*args: Any) -> Any:
        key = tuple((each.changes, *each.options.items()) if isinstance(each, plans.Missing) else each for each in args)
        if key not in made:
            made[key] = function(*args)
        return made[key]

    return remembered

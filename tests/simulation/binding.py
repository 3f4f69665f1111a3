"""Where the program under test is put under the scheduler: the only file that knows how it comes by its threads.

Three modules of the core get other names: the line's and the engine's locks and thread numbers, and the gates' locks.
Everything else comes with the time that the controller is given. What follows from values alone is worked out once in
the process, as no run changes it for another.
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

# What a run makes ends with it, and not with the process.
_NO_EXIT = types.SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)


@contextlib.contextmanager
def installed(scheduler: Scheduler) -> Iterator[None]:
    """Let the controllers that are made meanwhile run under the scheduler."""
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
    # A run must not depend on those before it. Their engines may be there until the collector comes.
    engine.ENGINES.forked()
    for module, name, stand_in in replaced:
        setattr(module, name, stand_in)
    try:
        yield
    finally:
        for module, name, real in before:
            setattr(module, name, real)


def remember() -> None:
    """Work out once in the process, and not in every run, what no run changes for another."""
    link_module: Any = link
    if isinstance(link_module.transitions, types.SimpleNamespace):
        return
    for name in ("_refuse_values", "_refuse", "_plan"):
        setattr(plans, name, _remembering(getattr(plans, name)))
    # The link is the machine's model, and the machine itself keeps nothing of it.
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

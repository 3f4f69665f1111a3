"""Where the program under test is put under the scheduler: the only file that knows how it comes by its threads.

The modules of ``htppower.control`` import ``threading``, ``queue`` and ``atexit``, and get the stand-ins for them. A
core that makes its locks with ``make_lock(rank)`` of ``time.locks`` gets locks of the scheduler of that rank, and one
that makes them with ``whole_lock()`` gets such without a rank.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from simulation import lines, stand_ins

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator

    from simulation.scheduler import Scheduler

PACKAGE = "htppower.control"
# These have no points between their statements: real time is not used, and a status is read whole.
_OF_TIME = (
    "alarms",
    "base",
    "fair_lock",
    "scheduler",
    "side_by_side",
    "thread_pool",
    "unlocked_log",
    "whole",
    "workers",
)
WITHOUT_POINTS = (*(f"{PACKAGE}.time.{module}" for module in _OF_TIME), f"{PACKAGE}.status")


class _NoForks:
    """In the place of ``os`` where what is called in forked children is registered: that can't be taken back."""


def bind(*, points: bool = True) -> None:
    """Let the package be imported with stand-ins and, unless told otherwise, points from now on.

    Raises:
        RuntimeError: it is imported already, without.
    """
    lines.instrument(PACKAGE, without=WITHOUT_POINTS if points else (PACKAGE,), adapt=_adapt)


def remember() -> None:
    """Work out once in the process, and not in every run, what no run changes for another."""
    plans = importlib.import_module(f"{PACKAGE}.core.plans")
    for name in ("_refuse_values", "_refuse", "_plan"):
        setattr(plans, name, _remembering(getattr(plans, name)))
    table = importlib.import_module(f"{PACKAGE}.core.state_machine").TransitionTable
    made = table()

    def be_made(self: Any) -> None:
        vars(self).update(vars(made))

    table.__init__ = be_made


def _remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    made: dict[tuple[object, ...], Any] = {}

    def remembered(*args: Any) -> Any:
        key = tuple(tuple(each.items()) if isinstance(each, dict) else each for each in args)
        if key not in made:
            made[key] = function(*args)
        return made[key]

    return remembered


def _adapt(module: types.ModuleType) -> None:
    if hasattr(module, "whole_lock"):
        module.__dict__["whole_lock"] = stand_ins.threading.RLock
    if module.__name__ == f"{PACKAGE}.time.locks" and hasattr(module, "make_lock"):
        module.__dict__["make_lock"] = stand_ins.ranked(module.make_lock)


@functools.cache
def _forks() -> Any:
    """Import every module of the package, so that none is imported in a run; return the module on forks."""
    package = importlib.import_module(PACKAGE)
    for found in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        importlib.import_module(found.name)
    return importlib.import_module("htppower.backends.forks")


@functools.cache
def _caches() -> tuple[Any, ...]:
    """Return the functions of the package that remember what they returned."""
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{PACKAGE}.")]
    return tuple(made for module in modules for made in vars(module).values() if hasattr(made, "cache_clear"))


@contextlib.contextmanager
def installed(scheduler: Scheduler) -> Iterator[None]:
    """Let the controllers that are made meanwhile run under the scheduler; ``bind`` was called before."""
    forks = _forks()
    # A run must not depend on those before it. Their backends may be there until the collector comes.
    importlib.import_module(f"{PACKAGE}.backend_list").SHARED_BACKENDS._all = []
    for cached in _caches() if scheduler.fine else ():
        # What is remembered has no points.
        cached.cache_clear()
    real_os, forks.os = forks.os, _NoForks()
    stand_ins.follow(scheduler)
    lines.follow(scheduler)
    try:
        yield
    finally:
        lines.follow(None)
        stand_ins.follow(None)
        forks.os = real_os

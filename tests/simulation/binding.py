"""Where the program under test is put under the scheduler: the only file that knows how it comes by its threads.

Today the modules of ``htppower.control`` use ``threading`` and ``queue``: these names are replaced in each of them.
A core that makes its locks with ``make_lock(rank)`` is bound there instead, with the ranks that it gives.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import types
from typing import TYPE_CHECKING, Any

from simulation import lines
from simulation.locks import Lock
from simulation.threads import fake_queue, fake_threading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.scheduler import Scheduler

PACKAGE = "htppower.control"


class _NoProcess:
    """In the place of ``atexit`` and ``os``: what a run makes ends with it, and not with the process."""

    def register(self, *_: object) -> None:
        """Do nothing."""

    def unregister(self, *_: object) -> None:
        """Do nothing."""


@functools.cache
def _places() -> tuple[tuple[types.ModuleType, str], ...]:
    """Import every module of the package, and return where in them one of the names is that are replaced."""
    package = importlib.import_module(PACKAGE)
    names = [found.name for found in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")]
    modules = [package, *(importlib.import_module(name) for name in names)]
    return tuple(
        (module, name)
        for module in modules
        for name in ("threading", "queue", "atexit", "make_lock")
        if name in module.__dict__
    )


@contextlib.contextmanager
def installed(scheduler: Scheduler) -> Iterator[None]:
    """Let the controllers that are made meanwhile run under the scheduler."""
    fakes: dict[str, Any] = {
        "threading": fake_threading(scheduler),
        "queue": fake_queue(scheduler),
        "atexit": _NoProcess(),
        "make_lock": lambda rank: _ranked(scheduler, rank),
    }
    replaced = [(module, name, fakes[name]) for module, name in _places()]
    replaced.append((importlib.import_module("htppower.backends.forks"), "os", _NoProcess()))
    saved = [(module, name, module.__dict__[name]) for module, name, _ in replaced]
    for module, name, fake in replaced:
        module.__dict__[name] = fake
    lines.follow(scheduler)
    try:
        yield
    finally:
        lines.follow(None)
        for module, name, real in saved:
            module.__dict__[name] = real


def _ranked(scheduler: Scheduler, rank: Any) -> Lock:
    return Lock(scheduler, f"lock {getattr(rank, 'name', rank)}", rank=int(getattr(rank, "value", rank)))

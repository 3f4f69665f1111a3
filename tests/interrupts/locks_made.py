"""The locks of controllers: each is noted where it is made, so that it can be seen whether this thread holds it.

They are the locks that a controller has without tests: locks of a test's own would be interrupted elsewhere.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from typing import TYPE_CHECKING

from htppower import control, testing
from htppower.backends.whole_lock import whole_lock
from htppower.control.time import locks

if TYPE_CHECKING:
    from htppower.control.time.locks import Lock, Rank

LOCKS: list[tuple[str, Lock]] = []


def _make_lock(rank: Rank) -> Lock:
    lock: Lock = whole_lock()  # type: ignore[assignment]  # typeshed does not know _is_owned
    LOCKS.append((rank.name, lock))
    return lock


def note_locks() -> None:
    """Note every lock that a controller makes from now on."""
    before = locks.make_lock
    modules = [testing, locks]
    for found in pkgutil.walk_packages(control.__path__, "htppower.control."):
        # What needs an optional package makes no locks where that is missing.
        with contextlib.suppress(ImportError):
            modules.append(importlib.import_module(found.name))
    for module in modules:
        if getattr(module, "make_lock", None) is before:
            module.make_lock = _make_lock  # type: ignore[attr-defined]

"""Locks that ``with`` takes as a whole: no exception from outside separates the taking from the block."""

from __future__ import annotations

import sys
from _thread import RLock


class _WholeLock(RLock):  # type: ignore[misc]  # typeshed has a function of this name
    """A lock for CPython from 3.14 on.

    There ``with`` enters by an ordinary call. The interpreter looks for exceptions from outside, such as Ctrl-C, when a
    function in C has returned: a lock of ``threading`` is then held, and the block is not begun. It does not look when
    a function in Python returns, nor after an operator. So this one is taken by an operator in a function. The end of
    the block needs no such care: it is a function in C, and nothing is looked for before it.
    """

    __slots__ = ()

    __neg__ = RLock.acquire

    def __enter__(self) -> bool:  # type: ignore[override]  # there it is called acquire
        taken: bool = -self
        return taken


_MADE = _WholeLock if sys.version_info >= (3, 14) else RLock


def whole_lock() -> RLock:
    """Return a new lock; reentrant, since a signal handler may come while its thread holds it."""
    return _MADE()

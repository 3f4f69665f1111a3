"""Locks for ``with`` without a gap: no asynchronous exception can come between the acquire and the block."""

from __future__ import annotations

import sys
from _thread import RLock


class _WholeLock(RLock):  # type: ignore[misc]  # typeshed has a function of this name
    """A lock for CPython from 3.14 on.

    There ``with`` enters by an ordinary call. The interpreter checks for asynchronous exceptions, such as Ctrl-C, when
    a C function has returned: a lock of ``threading`` is then held, but the block has not begun. It does not check when
    a Python function returns, nor after an operator. So this lock is acquired by an operator in a function. The end of
    the block is safe without that: it is a C function, and there is no check before it.
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

"""Locks of whole files, and moves and removals that a reader may delay, on POSIX and on Windows."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

# Windows locks bytes. This one is behind the end of every file, so that the lock keeps no reader out.
_LOCKED_BYTE = 1 << 40
# On Windows a file that another process has open can be neither replaced nor removed. Readers, virus scanners and
# backups have it open for a moment only.
_TRIES, _PAUSE_S = 20, 0.005


def lock(file: FileIO) -> bool:
    """Lock a file until it is closed; return False if another open file has the lock.

    A file system without locks has no other writers that could be seen, so the answer is True there.

    Raises:
        OSError: without a number, the time limit of a host.
    """
    try:
        if sys.platform == "win32":
            file.seek(_LOCKED_BYTE)
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                file.seek(0)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno is None:
            raise
        # Windows has several codes for a byte that is locked, and locks on every file system.
        return sys.platform != "win32" and not isinstance(error, BlockingIOError)
    return True


def move(source: Path, target: Path) -> None:
    """Move a file over another, or to a free place.

    Raises:
        OSError: it can't be moved; on Windows after tries of 100 ms while another process has one of the two open.
    """
    _retried(lambda: source.replace(target))


def remove(path: Path) -> None:
    """Remove a file, with the same tries as ``move``.

    Raises:
        OSError: it can't be removed.
    """
    _retried(path.unlink)


def _retried(act: Callable[[], object]) -> None:
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        with contextlib.suppress(PermissionError):
            act()
            return
        time.sleep(_PAUSE_S)
    act()

"""Locks of files, by which writers of this process and of others know of each other (``flock``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows, where a file that is open can be neither renamed nor removed: that is enough
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from io import FileIO

# Whether the system has such locks.
CAN_LOCK = fcntl is not None


def lock_file(file: FileIO, *, shared: bool = False) -> bool:
    """Lock a file until it is closed; return False where another one has it, or, with ``shared``, has it alone.

    Raises:
        OSError: one without a number, which is the time limit of a host.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno is None:
                raise
            # A file system without locks.
    return True

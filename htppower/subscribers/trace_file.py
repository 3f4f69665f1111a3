"""A JSON array in a file that is whole after every event, also when the process is killed in between.

The file ends with ``]`` at all times. An event is added by one write over that ending, of a comma, the event and a new
ending: so there is no moment between two writes at which a process that dies leaves half a file. What the kernel has
taken is safe from the death of the process; only a loss of power can take it. SIGKILL can cut a write short in one
place, where it goes on from one page of memory to the next: the last line is cut then, which viewers skip.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = b"[\n"
_NEXT = b",\n"
_END = b"\n]"


class TraceFile:
    """An array that grows in a file; one that exists is replaced.

    Args:
        path: the file.
        first: the first elements, as JSON.

    Raises:
        OSError: it can't be written.
    """

    def __init__(self, path: Path, first: bytes) -> None:
        self._path = path
        whole = _BEGIN + first + _END
        # Beside it, then in its place: the path never leads to a file that has only begun.
        fresh = path.with_name(f"{path.name}.new")
        try:
            fresh.write_bytes(whole)
            fresh.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
        # Unbuffered: what is added must be the kernel's before the next event.
        self._file = path.open("r+b", buffering=0)
        self.size = len(whole)

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the file: its folder may have been removed, or the file moved away."""
        try:
            there = self._path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._file.fileno()))

    def size_with(self, elements: bytes) -> int:
        """Return how large the file is with further elements."""
        return self.size + len(_NEXT) + len(elements)

    def add(self, elements: bytes) -> None:
        """Add elements, as JSON with commas between them.

        Raises:
            OSError: they can't be written, such as on a full disk; the file is as it was.
        """
        try:
            self._write(self.size - len(_END), _NEXT + elements + _END)
        except OSError:
            self._restore()
            raise
        self.size = self.size_with(elements)

    def close(self) -> None:
        """Close the file; it is whole already."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, offset: int, data: bytes) -> None:
        self._file.seek(offset)
        if self._file.write(data) != len(data):
            # A full disk takes a part without an error.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))

    def _restore(self) -> None:
        """Put the ending back, which needs no room on the disk, and cut off what follows."""
        with contextlib.suppress(OSError):
            self._file.seek(self.size - len(_END))
            self._file.write(_END)
            self._file.truncate(self.size)

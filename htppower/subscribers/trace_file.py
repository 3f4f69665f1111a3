"""A JSON array in a file that is whole after every event, even when the process is killed.

The file always ends with ``]``. One write replaces that ending by a comma, the event and a new ending, so a process
that dies between two writes leaves a whole file. Only a loss of power takes what the kernel has. SIGKILL can cut a
write only between two pages of memory: then the last line is incomplete, and viewers skip it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from htppower.control.files.new_file import put_in_place

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = b"[\n"
_NEXT = b",\n"
_END = b"\n]"


class TraceFile:
    """An array that grows in a file; an existing file is replaced, and so is a link.

    Args:
        path: the file.
        first: the first elements, as JSON.

    Raises:
        OSError: the file can't be written.
    """

    def __init__(self, path: Path, first: bytes) -> None:
        self._path = path
        whole = _BEGIN + first + _END
        # Unbuffered: the kernel must have each event before the next.
        self._file = put_in_place(path, whole)
        self.size = len(whole)

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the file, and that has its size.

        Somebody may have removed, renamed or emptied it, or renamed its folder.
        """
        try:
            there = self._path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._file.fileno())) and there.st_size >= self.size

    def size_with(self, elements: bytes) -> int:
        """Return the size of the file with these elements added."""
        return self.size + len(_NEXT) + len(elements)

    def add(self, elements: bytes) -> None:
        """Add elements, as JSON with commas between them.

        Raises:
            OSError: they can't be written, as on a full disk; the file is as it was.
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
        """Write the ending back, which needs no room on the disk, and cut off what follows."""
        with contextlib.suppress(OSError):
            self._file.seek(self.size - len(_END))
            self._file.write(_END)
            self._file.truncate(self.size)

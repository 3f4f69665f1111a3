"""Events of Chrome's trace format as dicts, and a file that is a complete JSON array after every event.

The source of the format is "Trace Event Format", a document of the Chromium project. Perfetto reads it, too.

The file is complete even if the process is killed: it always ends with ``]``. A single write replaces this ending by a
comma, the event and a new ending, so a process that dies between two writes leaves a complete file. Only a loss of
power loses the data that the kernel has. SIGKILL can cut a write only between two pages of memory: then the last line
is incomplete, and viewers skip it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any

from htppower.control.files.new_file import put_in_place

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = b"[\n"
_NEXT = b",\n"
_END = b"\n]"
# Larger than the process numbers of profilers, which count from 0 or 1, and larger than those on a small system.
PROCESS = 4_818_000


def event(kind: str, name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return an event: ``B`` begins a slice, ``E`` ends it, ``X`` is a whole one, ``i`` an instant, ``C`` a counter."""
    return {"ph": kind, "name": name, "cat": "htppower", "ts": time_us, "pid": PROCESS, "tid": tid, "args": args}


def slice_of(name: str, begin_us: int, duration_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return a complete slice."""
    return {**event("X", name, begin_us, tid, args), "dur": duration_us}


def moment(name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return an instant on one track."""
    return {**event("i", name, time_us, tid, args), "s": "t"}


def process(name: str) -> dict[str, Any]:
    """Return the name of the process."""
    return event("M", "process_name", 0, PROCESS, {"name": name})


def track(tid: int, name: str, place: int) -> list[dict[str, Any]]:
    """Return the name of a track, and its place among the tracks."""
    return [
        event("M", "thread_name", 0, tid, {"name": name}),
        event("M", "thread_sort_index", 0, tid, {"sort_index": place}),
    ]


class TraceFile:
    """A JSON array that grows in a file. An existing file or link at the path is replaced.

    Args:
        path: the file.
        first: the first elements, as JSON.

    Raises:
        OSError: the file can't be written.
    """

    def __init__(self, path: Path, first: bytes) -> None:
        self._path = path
        whole = _BEGIN + first + _END
        # The file is unbuffered, since each event must reach the kernel before the next one.
        self._file = put_in_place(path, whole)
        self.size = len(whole)

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to this file, and the file has its size.

        Another program may have removed, renamed or emptied it, or renamed its folder.
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
            OSError: they can't be written, for example on a full disk; the file is unchanged.
        """
        try:
            self._write(self.size - len(_END), _NEXT + elements + _END)
        except OSError:
            self._restore()
            raise
        self.size = self.size_with(elements)

    def close(self) -> None:
        """Close the file, which is complete already."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, offset: int, data: bytes) -> None:
        self._file.seek(offset)
        if self._file.write(data) != len(data):
            # On a full disk only a part of the data may be written, without an error.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))

    def _restore(self) -> None:
        """Write the ending again, which needs no space on the disk, and cut off what follows it."""
        with contextlib.suppress(OSError):
            self._file.seek(self.size - len(_END))
            self._file.write(_END)
            self._file.truncate(self.size)

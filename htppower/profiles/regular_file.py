"""What is in a regular file, and whether it has changed since; a pipe or a device is never read."""

from __future__ import annotations

import os
import stat

LARGEST_FILE_BYTES = 1024 * 1024
# Times of the last change of content and of the file, its size, and which file it is.
FileVersion = tuple[int, int, int, int, int]


def file_version(path: str) -> FileVersion | None:
    """Return what changes when a file or folder changes; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


class NotRegular(ValueError):  # noqa: N818 - reads as what it is
    """A path leads to a folder, a pipe or a device."""


def read_regular_file(path: str, most_bytes: int = LARGEST_FILE_BYTES + 1) -> bytes:
    """Return what is in a file, up to ``most_bytes``: by default a byte more than any file may have.

    A pipe or device is not opened, since reading it may never end; nor does a file wait that has nothing to read yet,
    as some of the kernel's do.

    Raises:
        NotRegular: it is none.
        OSError, ValueError: it can't be read.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise NotRegular("a folder" if stat.S_ISDIR(mode) else "no regular file")
    with open(path, "rb", 0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegular("no regular file")  # something else was put there just now
        if hasattr(os, "set_blocking"):
            os.set_blocking(file.fileno(), False)
        data = b""
        # None where there is nothing to read yet.
        while part := file.read(most_bytes - len(data)):
            data += part
        return data

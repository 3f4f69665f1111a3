"""A file that is made beside its place and then put there, so that its path never leads to half a file.

Other users may write into the folder, as into ``/tmp``: no link is followed, neither one in the place of the file nor
one of the name under which it is made.

A file is held as an object, and not by its number: one that an interrupt keeps from its owner is closed nevertheless,
and so gives back its lock.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from io import FileIO

from htppower.control.files.file_lock import CAN_LOCK, lock_file

# A link is not followed, and a pipe that somebody has put there is not waited for.
_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Windows renames no open file.
_CLOSED_TO_RENAME = os.name == "nt"
# So many may write at the same time.
_MOST_AT_ONCE = 16


def put_in_place(path: str | os.PathLike[str], data: bytes, *, lasting: bool = False) -> FileIO:
    """Put a new file with this data in the place of whatever a path names; return it, open to read and write.

    A link there is replaced, and what it leads to is left alone. While the file is made it is called ``.NAME.new``, and
    is locked; where another one is being made at that time, ``.NAME.new2``, and so on. What a killed process has left
    of these gives way to the next.

    ``lasting``: wait until the disk has the data before it takes the place of what was there. Without that a machine
    that loses its power soon after may have neither.

    Raises:
        OSError: it can't be written, with this path; what was there is as it was. One without a number is the time
            limit of a host, as it is.
    """
    try:
        return _put(path, data, lasting=lasting)
    except OSError as error:
        if error.errno is None:
            raise
        # Nobody knows of the name under which it is made.
        missing = error.errno == errno.ENOENT and not os.path.isdir(os.path.dirname(path) or os.curdir)  # noqa: PTH112, PTH120
        said = "its folder is missing: make that first" if missing else error.strerror
        raise OSError(error.errno, said, os.fspath(path)) from None


def _put(path: str | os.PathLike[str], data: bytes, *, lasting: bool) -> FileIO:
    folder, name = os.path.split(os.fspath(path))
    made, file = _new(os.path.join(folder, f".{name}.new"))  # noqa: PTH118 - as the texts that os takes
    try:
        _write(file.fileno(), data)
        if lasting:
            os.fsync(file.fileno())
        if _CLOSED_TO_RENAME:
            file.close()
        os.replace(made, path)  # noqa: PTH105
    except BaseException:
        file.close()
        with contextlib.suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        raise
    return FileIO(path, "r+") if _CLOSED_TO_RENAME else file


def _new(place: str) -> tuple[str, FileIO]:
    """Return a new file with its name, beside those that others are making."""
    for number in range(1, _MOST_AT_ONCE + 1):
        made = place if number == 1 else f"{place}{number}"
        _try_to_remove_left(made)
        try:
            # It must be new: a link that somebody has put there would lead elsewhere.
            file = FileIO(made, "x+")
        except FileExistsError:
            continue
        # Until it was locked another could take it for one that was left.
        if lock_file(file) and _leads_to(made, file):
            return made, file
        file.close()
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)


def _try_to_remove_left(made: str) -> None:
    try:
        _remove_left(made)
    except OSError as error:
        if error.errno is None:
            raise


def _remove_left(made: str) -> None:
    """Remove what is there, unless it is being written.

    Raises:
        OSError: it can't be removed.
    """
    if not CAN_LOCK or not stat.S_ISREG(os.lstat(made).st_mode):
        os.unlink(made)  # noqa: PTH108
        return
    with FileIO(made, "r", opener=_look) as file:
        if lock_file(file) and _leads_to(made, file):
            os.unlink(made)  # noqa: PTH108


def _look(path: str, _flags: int) -> int:
    return os.open(path, _LOOK)


def _leads_to(made: str, file: FileIO) -> bool:
    try:
        return os.path.samestat(os.lstat(made), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]

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
from typing import TYPE_CHECKING

from htppower.control.files.file_lock import CAN_LOCK, lock_file

if TYPE_CHECKING:
    from collections.abc import Iterator

# A link is not followed, and a pipe that somebody has put there is not waited for.
_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Windows renames no open file.
_CLOSED_TO_RENAME = os.name == "nt"
# So many may write at the same time.
_MOST_AT_ONCE = 16


class NewFile:
    """A new file with a temporary name in the folder of its path; ``put`` moves it to the path.

    While it waits it is called ``.NAME.new``, and is locked; where another one is being made at that time,
    ``.NAME.new2``, and so on. What a killed process has left of these gives way to the next.

    Args:
        path: its place. A link there is replaced, and the file at its end is left alone.
        data: the content.
        lasting: wait until the disk has the data. Without that a machine that loses its power soon after may have
            neither this file nor the old one.
        mode: its rights; None: those that the process gives every new file.

    Raises:
        OSError: it can't be written, with this path; what is there stays as it is. One without a number is the time
            limit of a host, as it is.
    """

    def __init__(
        self, path: str | os.PathLike[str], data: bytes, *, lasting: bool = False, mode: int | None = None
    ) -> None:
        self._path = os.fspath(path)
        folder, name = os.path.split(self._path)
        with _naming(self._path):
            self._made, self._file = _new(os.path.join(folder, f".{name}.new"))  # noqa: PTH118 - as the texts that os takes
            try:
                _write(self._file.fileno(), data)
                if mode is not None:
                    os.chmod(self._made, mode)  # noqa: PTH101
                if lasting:
                    os.fsync(self._file.fileno())
            except BaseException:
                self.discard()
                raise

    def put(self) -> FileIO:
        """Replace whatever its path names with it; return it, open to read and write.

        Raises:
            OSError: as above.
        """
        with _naming(self._path):
            try:
                if _CLOSED_TO_RENAME:
                    self._file.close()
                os.replace(self._made, self._path)  # noqa: PTH105
            except BaseException:
                self.discard()
                raise
            return FileIO(self._path, "r+") if _CLOSED_TO_RENAME else self._file

    def discard(self) -> None:
        """Remove it before it was put."""
        self._file.close()
        with contextlib.suppress(OSError):
            os.unlink(self._made)  # noqa: PTH108


def put_in_place(path: str | os.PathLike[str], data: bytes, *, lasting: bool = False) -> FileIO:
    """Put a new file with this data in the place of whatever a path names; return it, open to read and write.

    Raises:
        OSError: as for ``NewFile``.
    """
    return NewFile(path, data, lasting=lasting).put()


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Let an error name the path of a file instead of its temporary name."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        missing = error.errno == errno.ENOENT and not os.path.isdir(os.path.dirname(path) or os.curdir)  # noqa: PTH112, PTH120
        said = "its folder is missing: make that first" if missing else error.strerror
        raise OSError(error.errno, said, path) from None


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

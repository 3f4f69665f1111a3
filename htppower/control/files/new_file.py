"""A file that is written under a temporary name and then moved to its path, so that no reader sees half a file.

Locks show other writers, of this process or another, that a file is in use. Other users may write into the
folder, as into ``/tmp``: no link is followed, neither at the path nor at the temporary name.
"""

from __future__ import annotations

import contextlib
import errno
import os
from io import FileIO
from typing import TYPE_CHECKING, TypeAlias

from htppower.control.files.file_lock import lock, move, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

_Path: TypeAlias = "str | os.PathLike[str]"
_WINDOWS = os.name == "nt"
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class NewFile:
    """A new file with a temporary name in the folder of its path; ``put`` moves it to the path.

    The temporary name is ``.NAME.new``, or ``.NAME.new2`` and so on if others write at the same time. The file is
    locked: a file of such a name without a lock was left by a killed process, and is replaced.

    Args:
        path: where the file goes. A link there is replaced, and its target is left alone.
        data: the content.
        lasting: wait until the disk has the data. Otherwise a loss of power may destroy both this file and the old one.
        mode: the permissions; None for the default of the process.
        names: how many temporary names are tried.

    Raises:
        OSError: the file can't be written, with this path; the old file stays as it is. ``put`` raises it, too. The
            TimeoutError of a host's signal handler, which has no number, is raised as it is.
    """

    def __init__(
        self, path: _Path, data: bytes, *, lasting: bool = False, mode: int | None = None, names: int = 16
    ) -> None:
        self._path = os.fspath(path)
        # The temporary name, while there is such a file.
        self._name = ""
        with self._discarded_on_error():
            self._name, self._file = _made_beside(self._path, names)
            write_all(self._file, data)
            if mode is not None:
                os.chmod(self._name, mode)  # noqa: PTH101 - as the text that os takes
            if lasting:
                os.fsync(self._file.fileno())

    def put(self) -> FileIO:
        """Move the file to its path; return it, open to read and write."""
        with self._discarded_on_error():
            if _WINDOWS:
                self._file.close()
            move(self._name, self._path)
            self._name = ""
            if _WINDOWS:
                self._file = FileIO(self._path, "r+")
                lock(self._file)
            return self._file

    def discard(self) -> None:
        """Remove the file, unless it is at its path."""
        if self._name:
            self._file.close()
            with contextlib.suppress(OSError):
                remove(self._name)
            self._name = ""

    @contextlib.contextmanager
    def _discarded_on_error(self) -> Iterator[None]:
        """If an OSError is raised, discard the file, and let the error name the path."""
        try:
            yield
        except OSError as error:
            self.discard()
            if error.errno is None:
                raise
            folder = os.path.dirname(self._path) or os.curdir  # noqa: PTH120 - as above
            missing = error.errno == errno.ENOENT and not os.path.isdir(folder)  # noqa: PTH112 - as above
            reason = "its folder is missing: make that first" if missing else error.strerror
            raise OSError(error.errno, reason, self._path) from None


def put_in_place(path: _Path, data: bytes, *, lasting: bool = False) -> FileIO:
    """Replace the file at a path with a ``NewFile``, with its errors; return it, open to read and write."""
    return NewFile(path, data, lasting=lasting).put()


def write_all(file: FileIO, data: bytes) -> None:
    """Write data at the position of a file; a full disk may take a part before it raises an OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(file.fileno(), left) :]


def is_at(path: str, file: FileIO) -> bool:
    """Return whether a path leads to an open file, and not through a link."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(path: str) -> Iterator[FileIO | None]:
    """Lock a file for a block; None if it is locked already. A missing file or a link raises OSError."""
    with FileIO(path, "r", opener=lambda name, _flags: os.open(name, _FLAGS)) as file:
        yield file if lock(file) and is_at(path, file) else None


def _made_beside(path: str, names: int) -> tuple[str, FileIO]:
    """Return the temporary name of a new, locked file, and the file."""
    folder, base = os.path.split(path)
    for number in ("", *range(2, names + 1)):
        name = os.path.join(folder, f".{base}.new{number}")  # noqa: PTH118 - as above
        try:
            _remove_left(name)
        except OSError as error:
            if error.errno is None:
                raise
        try:
            # "x" follows no link that another user has put there.
            file = FileIO(name, "x+")
        except FileExistsError:
            continue
        # Before it was locked, another writer may have removed it as left by a killed process.
        with contextlib.ExitStack() as unused:
            unused.callback(file.close)
            if lock(file) and is_at(name, file):
                unused.pop_all()
                return name, file
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def _remove_left(name: str) -> None:
    """Remove a file that a killed process has left, or a link; leave a file that is locked."""
    if _WINDOWS or os.path.islink(name):  # noqa: PTH114 - as above
        os.unlink(name)  # noqa: PTH108 - as above
        return
    with locked(name) as file:
        if file is not None:
            os.unlink(name)  # noqa: PTH108 - as above

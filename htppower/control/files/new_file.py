"""A file that is written under a temporary name and then moved to its path, so that no reader sees half a file.

Locks (``flock``) show other writers, of this process or another, that a file is in use. Other users may write into the
folder, as into ``/tmp``: so no link is followed, neither at the path nor at the temporary name.
"""

from __future__ import annotations

import contextlib
import errno
import os
from io import FileIO
from typing import TYPE_CHECKING, TypeAlias

try:
    import fcntl
except ImportError:  # None on Windows: an open file can be neither renamed nor removed there, so no lock is needed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

_Path: TypeAlias = "str | os.PathLike[str]"
_WINDOWS = os.name == "nt"
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class NewFile:
    """A new file with a temporary name in the folder of its path; ``put`` moves it to the path.

    The temporary name is ``.NAME.new``, or ``.NAME.new2`` and so on if others write at the same time. The file is
    locked: if a file of such a name has no lock, a killed process has left it, and it is replaced.

    Args:
        path: where the file goes. A link there is replaced, and its target is left alone.
        data: the content.
        lasting: wait until the data is on the disk. Otherwise a loss of power may destroy both this file and the old
            file.
        mode: the permissions; None for the process's default.
        names: how many temporary names are tried.

    Raises:
        OSError: the file can't be written, and the error names this path; the old file is unchanged. ``put`` raises
            this error, too. A TimeoutError that a host's signal handler raises (it has no ``errno``) is passed on
            unchanged.
    """

    def __init__(
        self, path: _Path, data: bytes, *, lasting: bool = False, mode: int | None = None, names: int = 16
    ) -> None:
        self._path = os.fspath(path)
        # The temporary name; None without a temporary file.
        self._name = ""
        with self._discarded_on_error():
            self._name, self._file = _made_beside(self._path, names)
            write_all(self._file, data)
            if mode is not None:
                os.chmod(self._name, mode)  # noqa: PTH101 - as the text that os takes
            if lasting:
                os.fsync(self._file.fileno())

    def put(self) -> FileIO:
        """Move the file to its path, and return it open for reading and writing."""
        with self._discarded_on_error():
            if _WINDOWS:
                self._file.close()
            os.replace(self._name, self._path)  # noqa: PTH105 - as above
            self._name = ""
            return FileIO(self._path, "r+") if _WINDOWS else self._file

    def discard(self) -> None:
        """Remove the file, unless it is at its path."""
        if self._name:
            self._file.close()
            with contextlib.suppress(OSError):
                os.unlink(self._name)  # noqa: PTH108 - as above
            self._name = ""

    @contextlib.contextmanager
    def _discarded_on_error(self) -> Iterator[None]:
        """If an OSError is raised, discard the file, and put the path into the error."""
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
    """Replace the file at a path with a ``NewFile``, raising its errors, and return it open for reading and writing."""
    return NewFile(path, data, lasting=lasting).put()


def write_all(file: FileIO, data: bytes) -> None:
    """Write data at the position of a file; on a full disk a part may be written before an OSError is raised."""
    left = memoryview(data)
    while left:
        left = left[os.write(file.fileno(), left) :]


def is_at(path: str, file: FileIO) -> bool:
    """Return whether a path leads to an open file, without a link at its end."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(path: str) -> Iterator[FileIO | None]:
    """Return a context manager that locks a file; its value is None if the file is locked already.

    A missing file or a link raises OSError.
    """
    with FileIO(path, "r", opener=lambda name, _flags: os.open(name, _FLAGS)) as file:
        yield file if _lock(file) and is_at(path, file) else None


def _lock(file: FileIO) -> bool:
    """Lock a file until it is closed; return False if it is locked already."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno is None:
                raise  # the time limit of a host, which is not an error of the file
            # The file system has no locks, so the file counts as not locked.
    return True


def _made_beside(path: str, names: int) -> tuple[str, FileIO]:
    """Make a new, locked file next to the path; return its temporary name, and the file."""
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
        # Between its creation and its lock, another writer may have removed the file, as if a killed process had left
        # it.
        with contextlib.ExitStack() as unused:
            unused.callback(file.close)
            if _lock(file) and is_at(name, file):
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

"""A file that is written under a temporary name and then moved to its path, so that no reader sees half a file.

Locks show other writers, of this process or another, that a file is in use. Other users may write into the folder, as
into ``/tmp``: so no link is followed, neither at the path nor at the temporary name.
"""

from __future__ import annotations

import contextlib
import errno
import os
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from htppower.control.files.file_lock import lock, move, remove
from htppower.profiles.regular_file import NotRegular, read_regular_file

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
        self._path = Path(path)
        # The temporary name, while there is such a file.
        self._name: Path | None = None
        with self._discarded_on_error():
            self._name, self._file = _made_beside(self._path, names)
            write_all(self._file, data)
            if mode is not None:
                self._name.chmod(mode)
            if lasting:
                os.fsync(self._file.fileno())

    def put(self) -> FileIO:
        """Move the file to its path, and return it open for reading and writing."""
        with self._discarded_on_error():
            if _WINDOWS:
                self._file.close()
            if self._name is not None:
                move(self._name, self._path)
            self._name = None
            if _WINDOWS:
                self._file = FileIO(self._path, "r+")
                lock(self._file)
            return self._file

    def discard(self) -> None:
        """Remove the file, unless it is at its path."""
        if self._name is not None:
            self._file.close()
            with contextlib.suppress(OSError):
                remove(self._name)
            self._name = None

    @contextlib.contextmanager
    def _discarded_on_error(self) -> Iterator[None]:
        """If an OSError is raised, discard the file, and put the path into the error."""
        try:
            yield
        except OSError as error:
            self.discard()
            if error.errno is None:
                raise
            reason = error.strerror
            if self._path.parent.is_file():  # ENOENT on Windows, ENOTDIR elsewhere
                reason = "its folder is a file"
            elif error.errno == errno.ENOENT and not self._path.parent.is_dir():
                reason = "its folder is missing: make that first"
            raise OSError(error.errno, reason, str(self._path)) from None


def put_in_place(path: _Path, data: bytes, *, lasting: bool = False) -> FileIO:
    """Replace the file at a path with a ``NewFile``, raising its errors, and return it open for reading and writing."""
    return NewFile(path, data, lasting=lasting).put()


def write_all(file: FileIO, data: bytes) -> None:
    """Write data at the position of a file; on a full disk a part may be written before an OSError is raised."""
    left = memoryview(data)
    while left:
        left = left[os.write(file.fileno(), left) :]


def place_of(path: _Path) -> Path:
    """Return the absolute path of a file, with no link in its folder: the process may change its folder.

    A link of the file's own name is kept, and not followed: in a folder like ``/tmp`` another user may have made it.
    """
    whole = Path(path).absolute()
    return Path(os.path.realpath(whole.parent), whole.name)


def begin_of(path: Path, most_bytes: int, what: str) -> bytes | None:
    """Return the begin of a file that will be replaced; None if there is no file.

    Raises:
        OSError: it can't be read, or is a folder.
        ValueError: it is not a file; the error says to name a file for ``what``.
    """
    try:
        return read_regular_file(path, most_bytes, noted=False)
    except FileNotFoundError:
        return None
    except NotRegular as error:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path)) from None
        raise ValueError(f"{path} is {error}: name a file for {what}") from None


def something_else(path: Path, what: str) -> ValueError:
    """Return the error for a file that must not be replaced, since it holds something else."""
    return ValueError(f"{path} holds something else than {what}: remove it, or name another file")


def is_at(path: Path, file: FileIO) -> bool:
    """Return whether a path leads to an open file, and not through a link."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(path: Path) -> Iterator[FileIO | None]:
    """Lock a file for a block; None if it is locked already. A missing file or a link raises OSError."""
    with FileIO(path, "r", opener=lambda name, _flags: os.open(name, _FLAGS)) as file:
        yield file if lock(file) and is_at(path, file) else None


def _made_beside(path: Path, names: int) -> tuple[Path, FileIO]:
    """Return the temporary name of a new, locked file, and the file."""
    for number in ("", *range(2, names + 1)):
        name = path.with_name(f".{path.name}.new{number}")
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
            if lock(file) and is_at(name, file):
                unused.pop_all()
                return name, file
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _remove_left(name: Path) -> None:
    """Remove a file that a killed process has left, or a link; leave a file that is locked."""
    if _WINDOWS or name.is_symlink():
        name.unlink()
        return
    with locked(name) as file:
        if file is not None:
            name.unlink()

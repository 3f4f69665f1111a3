"""Opens untrusted files: only regular files, and never waiting for a pipe or a device."""

from __future__ import annotations

import contextlib
import contextvars
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

LARGEST_FILE_BYTES = 1024 * 1024
# The times of the last change of content and of status, the size, and the identity of a file.
FileVersion = tuple[int, int, int, int, int]
# The device and inode of a file: equal for all its names, links and hard links.
FileId = tuple[int, int]

_LOOK = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | _LOOK | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
# Tests of a file's mode, and names for the kinds that are not regular.
_OTHERS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device"),
)
_OPENED: contextvars.ContextVar[set[FileId] | None] = contextvars.ContextVar("opened files", default=None)


def file_version(path: str) -> FileVersion | None:
    """Return a value that changes when a file or folder changes; None if it does not exist."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


class NotRegular(ValueError):  # noqa: N818 - reads as what it is
    """A path leads to a folder, a pipe, a socket or a device, or out of the searched folder."""


def open_regular(
    path: str | os.PathLike[str],
    *,
    within: str | os.PathLike[str] | None = None,
    pipe: bool = False,
    noted: bool = True,
) -> FileIO:
    """Open a regular file for reading; refuse everything else.

    The file is checked before and after it is opened, since it may be replaced in between. If there is no content to
    read yet, as in some files of the kernel, reading returns None instead of waiting.

    Args:
        path: the file.
        within: the folder that was searched for it; no link may lead out of it. None: the user named the path.
        pipe: accept a pipe, too, and wait for its writer. A pipe without a writer is empty.
        noted: add the file to those of ``noting_opened_files``.

    Raises:
        NotRegular: it is not a regular file, or a link leads out of the folder.
        OSError, ValueError: it can't be opened.
    """
    real = os.fspath(path) if within is None else _inside(path, within)
    _require_regular(os.stat(real).st_mode, pipe=pipe)  # before opening, which may change a device's state
    file: FileIO = open(real, "rb", 0, opener=lambda _, flags: _opened(real, within, flags | _LOOK))  # noqa: SIM115
    try:
        found = os.fstat(file.fileno())
        _require_regular(found.st_mode, pipe=pipe)
        if hasattr(os, "set_blocking"):
            os.set_blocking(file.fileno(), stat.S_ISFIFO(found.st_mode))
    except BaseException:
        file.close()
        raise
    opened = _OPENED.get()
    if noted and opened is not None:
        opened.add((found.st_dev, found.st_ino))
    return file


def read_regular_file(
    path: str | os.PathLike[str], most_bytes: int = LARGEST_FILE_BYTES, *, noted: bool = True
) -> bytes:
    """Return the content of a regular file, at most one byte more than the limit.

    Raises:
        NotRegular, OSError, ValueError: as for ``open_regular``.
    """
    with open_regular(path, noted=noted) as file:
        data = b""
        # None: there is no content to read yet.
        while part := file.read(most_bytes + 1 - len(data)):
            data += part
        return data


def leads_out(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a path in a folder leads out of the folder through a link."""
    root = os.path.join(os.path.realpath(folder), "")
    return not os.path.realpath(path).startswith(root)


@contextlib.contextmanager
def noting_opened_files() -> Iterator[set[FileId]]:
    """Collect the files that are opened in the block, so that a command overwrites none of them."""
    opened: set[FileId] = set()
    token = _OPENED.set(opened)
    try:
        yield opened
    finally:
        _OPENED.reset(token)


def opened_files() -> frozenset[FileId]:
    """Return the files opened so far in the block of ``noting_opened_files``; empty outside of a block."""
    return frozenset(_OPENED.get() or ())


def note_opened(found: os.stat_result) -> None:
    """Add a file that another program opened, such as the shell or a worker, to the opened files."""
    opened = _OPENED.get()
    if opened is not None and stat.S_ISREG(found.st_mode):
        opened.add((found.st_dev, found.st_ino))


def _require_regular(mode: int, *, pipe: bool) -> None:
    if not stat.S_ISREG(mode) and not (pipe and stat.S_ISFIFO(mode)):
        raise NotRegular(next((word for is_one, word in _OTHERS if is_one(mode)), "not a regular file"))


def _inside(path: str | os.PathLike[str], within: str | os.PathLike[str]) -> str:
    """Return the path of a file in a folder, without links."""
    if leads_out(path, within):
        raise NotRegular("a link that leads out of its folder")
    return os.path.realpath(path)


def _opened(real: str, within: str | os.PathLike[str] | None, flags: int) -> int:
    """Open a path; below a folder, open its parts one by one, since a part may have become a link since the check."""
    if within is None or os.open not in os.supports_dir_fd:
        return os.open(real, flags)
    root = os.path.realpath(within)
    folder = os.open(root, _FOLDER)
    try:
        *between, name = os.path.relpath(real, root).split(os.sep)
        for each in between:
            below = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(name, flags | _NO_LINK, dir_fd=folder)
    finally:
        os.close(folder)

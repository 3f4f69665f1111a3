"""The files of a recording: the newest at the path, older ones as ``PATH.1``, ``PATH.2`` and so on.

The newest is locked as long as it is written (``flock``, where the system has that), so that no other controller, of
this process or another, takes it for one of an earlier run and renames it.

A file is held as an object, and not by its number: one that an interrupt keeps from its owner is closed nevertheless,
and so gives back its lock. An OSError without a number is none of the system's, but the time limit of a host.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from io import FileIO

from htppower.control.files.file_lock import lock_file
from htppower.control.recording.trace_lines import MARK

# A link is not followed, and a pipe that somebody has put there is not waited for.
_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CLOSED_TO_RENAME = os.name == "nt"
# So often another controller may change the files while this one looks at them.
_MOST_TRIES = 3


class TraceFiles:
    """Where a recording is written.

    Args:
        path: the newest file.
        files: how many there are at most, the newest included.

    Attributes:
        path: the newest file, from the root on and without links, but for its last part: a link there is renamed.
    """

    def __init__(self, path: str, files: int) -> None:
        # The process may change its folder, or somebody a link on the way.
        text = os.path.abspath(path)  # noqa: PTH100 - as the texts that os takes
        self.path = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))  # noqa: PTH118, PTH119, PTH120
        self._places = [self.path, *(f"{self.path}.{age}" for age in range(1, files))]

    def require_usable(self) -> None:
        """Refuse places that hold something else than recordings, which would be renamed or overwritten.

        Raises:
            OSError: the folder is missing, or a place can't be looked at.
            ValueError: one of them holds something else.
        """
        if not os.path.isdir(os.path.dirname(self.path)):  # noqa: PTH112, PTH120 - as above
            raise FileNotFoundError(errno.ENOENT, "its folder is missing: make that first", self.path)
        for place in self._places:
            _require_recording(place)

    def begin(self, first: bytes, before: FileIO | None) -> FileIO:
        """Begin a new file, and rename what is there; return it, locked.

        Args:
            first: how it begins.
            before: the newest file so far, where it is open here; it is closed.

        Raises:
            OSError: it can't be made.
            ValueError: another controller writes the file at the path, or it is none.
        """
        # Kept locked until the new one is: another controller that comes meanwhile finds it, and is refused.
        with contextlib.closing(self._taken(before)) as held:
            if _CLOSED_TO_RENAME:
                held.close()
            if held is not _MISSING:
                self._rename_older()
            return _made(self.path, first)

    def is_newest(self, file: FileIO, size: int = 0) -> bool:
        """Return whether the path still leads to a file, and that has its size.

        Somebody may have removed, renamed or emptied it.
        """
        try:
            now = os.fstat(file.fileno())
            return os.path.samestat(os.lstat(self.path), now) and now.st_size >= size
        except OSError as error:
            if error.errno is None:
                raise
            return False

    def _taken(self, before: FileIO | None) -> FileIO | _NoFile:
        """Return the file at the path, locked, if there is one."""
        if before is not None:
            if self.is_newest(before):
                return before
            before.close()
        for _ in range(_MOST_TRIES):
            _require_recording(self.path)
            if self._is_being_renamed():
                break
            try:
                file = FileIO(self.path, "r", opener=_look)
            except OSError as error:
                if error.errno is None:
                    raise
                if self._is_being_renamed():
                    break
                # A link, or one that may not be read, is renamed nevertheless.
                return _MISSING if error.errno == errno.ENOENT else _NoFile()
            if not lock_file(file) or self._is_being_renamed():
                file.close()
                break
            if self.is_newest(file):
                return file
            file.close()
        raise _in_use(self.path)

    def _is_being_renamed(self) -> bool:
        """Return whether another controller has just renamed the newest file, and is about to make the next.

        At the path there is none meanwhile, or one that is not locked yet.
        """
        try:
            with FileIO(f"{self.path}.1", "r", opener=_look) as file:
                return not lock_file(file, shared=True)
        except OSError as error:
            if error.errno is None:
                raise
            return False

    def _rename_older(self) -> None:
        """Make the first place free. Where that was interrupted before, it goes on at the first place that is free."""
        free = next((age for age, place in enumerate(self._places) if not os.path.lexists(place)), len(self._places))
        for age in range(min(free, len(self._places) - 1), 0, -1):
            os.replace(self._places[age - 1], self._places[age])  # noqa: PTH105 - as above
        if free and len(self._places) == 1:
            os.unlink(self.path)  # noqa: PTH108 - as above


class _NoFile:
    """In the place of a file that is not there, or can't be locked."""

    def close(self) -> None:
        """Do nothing."""


# Nothing is renamed then: what comes to the path meanwhile is another controller's.
_MISSING = _NoFile()


def append(file: FileIO, size: int, data: bytes) -> int:
    """Add whole lines to a file after this many bytes; return its new size.

    Raises:
        OSError: they can't be written, as on a full disk; the file has its old size.
    """
    # Longer it is where an interrupt has come after a write that nobody has taken in.
    file.truncate(size)
    file.seek(size)
    try:
        _write(file, data)
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(size)
        raise
    return size + len(data)


def _write(file: FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _made(path: str, first: bytes) -> FileIO:
    """Return a new file, locked. It must be new: a link that somebody has put there would lead elsewhere."""
    try:
        file = FileIO(path, "x+")
    except FileExistsError:
        raise _in_use(path) from None
    if not lock_file(file):
        file.close()
        raise _in_use(path)
    try:
        _write(file, first)
    except OSError as error:
        file.close()
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - as above
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, path) from None
    return file


def _look(path: str, _flags: int) -> int:
    return os.open(path, _LOOK)


def _in_use(path: str) -> ValueError:
    return ValueError(f"{path} is being written by another controller: name another file")


def _require_recording(place: str) -> None:
    try:
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place)
    if not stat.S_ISREG(mode):
        raise ValueError(f"{place} is no file: name one for the recording")
    try:
        with FileIO(place, "r", opener=_look) as file:
            held = file.read(len(MARK))
    except FileNotFoundError:
        # Another controller that records there has renamed it since: that one's lock says so later.
        return
    # One that was killed as it began has a part of the mark, or nothing.
    if not MARK.startswith(held or b""):
        raise ValueError(f"{place} holds something else than a recording: remove it, or name another file")

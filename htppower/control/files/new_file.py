"""A file that is made beside its place and then put there, so that its path never leads to half a file.

Other users may write into the folder, as into ``/tmp``: no link is followed, neither one in the place of the file nor
one of the name under which it is made.
"""

from __future__ import annotations

import contextlib
import errno
import os

_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Windows renames no open file.
_CLOSED_TO_RENAME = os.name == "nt"


def put_in_place(path: str | os.PathLike[str], data: bytes) -> int:
    """Put a new file with this data in the place of whatever a path names; return it, open to read and write.

    A link there is replaced, and what it leads to is left alone. While the file is made it is called ``.NAME.new``,
    always the same, so that no more than one stays behind where the process is killed meanwhile.

    Raises:
        OSError: it can't be written, with this path; what was there is as it was.
    """
    try:
        return _put(path, data)
    except OSError as error:
        # Nobody knows of the name under which it is made.
        missing = error.errno == errno.ENOENT and not os.path.isdir(os.path.dirname(path) or os.curdir)  # noqa: PTH112, PTH120
        said = "its folder is missing: make that first" if missing else error.strerror
        raise OSError(error.errno, said, os.fspath(path)) from None


def _put(path: str | os.PathLike[str], data: bytes) -> int:
    folder, name = os.path.split(os.fspath(path))
    made = os.path.join(folder, f".{name}.new")  # noqa: PTH118 - as the texts that os takes
    with contextlib.suppress(FileNotFoundError):
        os.unlink(made)  # noqa: PTH108
    # It must be new: a link that somebody has put there would lead elsewhere.
    file = os.open(made, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        _write(file, data)
        if _CLOSED_TO_RENAME:
            os.close(file)
        os.replace(made, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(file)
        with contextlib.suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        raise
    return os.open(path, _FLAGS) if _CLOSED_TO_RENAME else file


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]

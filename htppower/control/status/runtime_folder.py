"""The folder in which the controllers of one user serve their status, where no file is named.

It belongs to the user and nobody else may write to it, so that what is in it is the user's own: the runtime folder of
the user (``XDG_RUNTIME_DIR``, or ``/run/user/UID``), or else a folder of its own in ``/tmp``. A host without a login,
such as a service, may have another environment than a shell: whoever reads looks at all of them.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from pathlib import Path

from htppower.control.status.process_identity import started

NAME = "htppower"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# What a killed process left is kept for a day, to be looked at.
_KEPT_S = 86_400


def runtime_folders() -> tuple[Path, ...]:
    """Return where statuses may be served, the best place first; they need not exist."""
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) / NAME / "run",) if local else ()
    uid = os.geteuid()
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    bases = [Path(named)] if named and Path(named).is_absolute() else []
    bases.append(Path(f"/run/user/{uid}"))
    own = [base / NAME for base in bases if is_own(base)]
    return tuple(dict.fromkeys((*own, temporary_folder() / f"{NAME}-{uid}")))


def temporary_folder() -> Path:
    """Return the parent of the folders of users who have no runtime folder."""
    return Path("/tmp" if os.path.isdir("/tmp") else os.environ.get("TMPDIR", "/data/local/tmp"))  # noqa: S108, PTH112


def is_own(folder: Path) -> bool:
    """Return whether a folder is there, belongs to this user, and nobody else may write to it. A link is not."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE)


def reserved_file() -> Path:
    """Return a new, empty file for a status of this process, in a folder into which this user only may write.

    Raises:
        OSError: there is no folder for it; with what is wrong with the last that was tried.
    """
    problem = OSError(errno.ENOENT, "there is no folder for statuses: name a file", NAME)
    for folder in runtime_folders():
        try:
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700, parents=os.name == "nt")
            if not is_own(folder):
                raise PermissionError(
                    errno.EPERM, "is not this user's own folder: remove it, or name a file", str(folder)
                )
            _tidy(folder)
            return _new_file(folder)
        except OSError as error:
            problem = error
    raise problem


def _new_file(folder: Path) -> Path:
    for number in itertools.count(1):
        path = folder / f"{os.getpid()}-{number}.json"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return path
    raise AssertionError  # the numbers do not end


def _tidy(folder: Path) -> None:
    """Remove what processes left that are gone for long."""
    for path in folder.glob("*.json"):
        pid = path.name.partition("-")[0]
        with contextlib.suppress(OSError, ValueError, OverflowError):
            if path.lstat().st_mtime < time.time() - _KEPT_S and _is_gone(int(pid)):
                path.unlink()


def _is_gone(pid: int) -> bool:
    try:
        started(pid)
    except ProcessLookupError:
        return True
    return False

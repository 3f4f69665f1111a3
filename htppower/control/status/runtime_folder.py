"""The folder where the controllers of a user serve their status if the host names no file.

It is in the runtime folder of the user (``XDG_RUNTIME_DIR`` or ``/run/user/UID``), or else in ``/tmp``, and on Windows
in ``%LOCALAPPDATA%``. It must belong to the user, and no other user may write to it. A host without a login, such as a
service, may have another environment than the user's shell, so readers look into all of these folders.
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
# The file of a killed process is kept for a day, so that a user can look at it.
_KEPT_S = 86_400


def runtime_folders() -> tuple[Path, ...]:
    """Return the folders for statuses, the best place first; they need not exist."""
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) / NAME / "run",) if local else ()
    uid = os.geteuid()
    named = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    bases = [*([named] if named.is_absolute() else []), Path(f"/run/user/{uid}")]
    own = [base / NAME for base in bases if belongs_to(base, uid)]
    return tuple(dict.fromkeys((*own, temporary_folder() / f"{NAME}-{uid}")))


def temporary_folder() -> Path:
    """Return the folder that holds the folders of users without a runtime folder, such as ``/tmp``."""
    return Path("/tmp" if os.path.isdir("/tmp") else os.environ.get("TMPDIR", "/data/local/tmp"))  # noqa: S108, PTH112


def is_own(folder: Path) -> bool:
    """Return whether a folder exists, belongs to this user, and no other user may write to it."""
    return belongs_to(folder, None if os.name == "nt" else os.geteuid())


def belongs_to(folder: Path, uid: int | None) -> bool:
    """Return whether a folder, not a link, belongs to a user (None: to any user), and no other user may write to it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    alone = found.st_uid == uid and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and (uid is None or alone)


def reserved_file() -> Path:
    """Return a new, empty file for a status of this process, in a folder that only this user may write to.

    Raises:
        OSError: no folder can be used; this is the error of the last folder that was tried.
    """
    # Only Windows may have none.
    problem = OSError(errno.ENOENT, "there is no folder for statuses, since LOCALAPPDATA is not set: name a file", NAME)
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
            path.touch(mode=0o600, exist_ok=False)
            return path
    raise AssertionError  # always found, since the numbers do not end


def _tidy(folder: Path) -> None:
    """Remove the old files of processes that are gone."""
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, OverflowError):
            if path.lstat().st_mtime < time.time() - _KEPT_S:
                try:
                    started(int(path.name.partition("-")[0]))
                except ProcessLookupError:
                    path.unlink()

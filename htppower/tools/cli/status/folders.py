"""The status folders of other users, for root, and how a file in such a folder is opened.

A user can change their own folder at any time, even while root reads it. So root opens no link there, and each folder
and file must belong to that user alone. The process id in a file must be one of the user's processes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from htppower.control.status.runtime_folder import NAME, belongs_to, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
USERS = Path("/run/user")


class Folder(NamedTuple):
    """A folder of statuses.

    Attributes:
        path: its path.
        uid: the user who owns it, or None for this user.
    """

    path: Path
    uid: int | None = None


def folders_of_others() -> Iterator[Folder]:
    """Yield the folders of all other users if this user is root, and none otherwise."""
    if os.name == "nt" or os.geteuid() != 0:
        return
    named = [(path.name, path / NAME) for path in _listed(USERS)]
    named += [(path.name.partition("-")[2], path) for path in _listed(temporary_folder()) if _has_prefix(path)]
    for uid, path in named:
        if uid.isdecimal() and int(uid) != os.geteuid() and belongs_to(path, int(uid)):
            yield Folder(path, int(uid))


def _has_prefix(path: Path) -> bool:
    return path.name.startswith(f"{NAME}-")


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def open_status(path: Path, uid: int) -> int:
    """Return a descriptor of a file in a folder of another user.

    Raises:
        OSError: it can't be opened, is not a file, or the file or its folder does not belong to that user.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _require_of(folder, uid, path.parent)
        found = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _require_of(found, uid, path)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise PermissionError(f"it is not a file: {path.name}")  # noqa: TRY301
    except BaseException:
        os.close(found)
        raise
    return found


def _require_of(descriptor: int, uid: int, path: Path) -> None:
    found = os.fstat(descriptor)
    if found.st_uid != uid or found.st_mode & _OTHERS_WRITE:
        raise PermissionError(f"it does not belong to user {uid} alone: {path.name}")


def user_name(uid: int) -> str:
    """Return the name of a user, or the number of a user without a name."""
    import pwd  # noqa: PLC0415 - Windows has none

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def owns_process(uid: int, pid: int) -> bool:
    """Return whether a process belongs to a user, as far as the system shows."""
    try:
        return os.stat(f"/proc/{pid}").st_uid == uid
    except OSError:
        return False

"""A status in a file, and whether the process that wrote it still runs.

Root also reads the status folders of other users. A user can change their own folder at any time, even while root reads
it. So root opens no link there, and each folder and file must belong to that user alone. The process id in a file must
be one of the user's processes.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.status.document import FORMAT, KIND, may_change, problem
from htppower.control.status.process_identity import Life, life
from htppower.control.status.runtime_folder import NAME, belongs_to, temporary_folder
from htppower.errors import HtpPowerError, printable
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.tools.readers.limits import TooMuch, check_json, raised

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
USERS = Path("/run/user")
# Ten thousand sessions on two cores each take 40 MB.
_LARGEST = 64 * 2**20
# Root reads files of other users, which must not make it run out of memory.
_LARGEST_OF_OTHERS = 20 * 2**20
# A change is written after slightly more than a second. An older file of an idle host is still true.
WRITTEN_WITHIN_US = 1_500_000
_SERVED = "name a file that a host writes with controller.serve_status(path), or none to list those of this user"


@attrs.frozen
class Folder:
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


class StatusUnreadable(HtpPowerError):  # noqa: N818 - the name states the fault
    """A file that can't be read as a status."""


@attrs.frozen
class Seen:
    """A status at the present time.

    Attributes:
        document: the content of the file.
        age_us: its age by the wall clock, at least 0.
        process: whether the process that wrote it runs.
        holds: whether the content is still true: no vote is up, and the process would have written any change.
        uid: the user who owns it, if that is another user.
    """

    document: dict[str, Any]
    age_us: int
    process: Life
    holds: bool = False
    uid: int | None = None

    @property
    def time_us(self) -> int:
        """The controller's clock when it was written."""
        time_us: int = self.document["time_us"]
        return time_us

    @property
    def until_us(self) -> int:
        """The controller's clock at the time until which the content is known to be true."""
        return self.time_us + self.age_us if self.holds else self.time_us


def read_status(path: Path, uid: int | None = None) -> dict[str, Any]:
    """Return the content of a file. With ``uid``, the owner must be this other user.

    Raises:
        StatusUnreadable: it can't be read, or is not a status of a known format.
    """
    shown, largest = printable(str(path)), _LARGEST if uid is None else _LARGEST_OF_OTHERS
    try:
        held = _content(path, uid, largest)
    except NotRegular:
        raise StatusUnreadable(f"{shown} is not a file: {_SERVED}") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise StatusUnreadable(f"can't read {shown}: {reason}: {_SERVED}") from None
    try:
        check_json(held, largest)
    except TooMuch as error:
        raise StatusUnreadable(f"{shown} {error.message}; that is too large for a status: {error.hint}") from None
    try:
        document = json.loads(held)
    except (ValueError, RecursionError):
        raise StatusUnreadable(f"{shown} is not JSON: {_SERVED}") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise StatusUnreadable(f"{shown} is not a status of htppower: {_SERVED}")
    form = document.get("format")
    if type(form) is int and form > FORMAT:
        newer = printable(str(document.get("htppower")))
        raise StatusUnreadable(
            f"{shown} has format {form}, written by htppower {newer}; this one knows format {FORMAT}: use that version"
        )
    found = _wrong(document)
    if found:
        raise StatusUnreadable(f"{shown} is not a status of htppower: {printable(found)}")
    return document


def _content(path: Path, uid: int | None, largest: int) -> bytes:
    """Return the content of a file, up to a byte more than the limit."""
    if uid is None:
        return read_regular_file(path, raised(largest))
    with os.fdopen(open_status(path, uid), "rb") as file:
        return file.read(raised(largest) + 1)


def seen(document: dict[str, Any], now: datetime.datetime, uid: int | None = None) -> Seen:
    """Return a status at a time. A file of another user can't vouch for a third user's process."""
    age = now - datetime.datetime.fromisoformat(document["written"])
    process = life(document["pid"], document["started_ticks"], document["place"])
    if uid is not None and process is Life.RUNNING and not owns_process(uid, document["pid"]):
        process = Life.UNKNOWN
    age_us = max(0, age // datetime.timedelta(microseconds=1))
    written = age_us >= WRITTEN_WITHIN_US and process is Life.RUNNING and not document["closed"]
    return Seen(document, age_us, process, written and not may_change(document), uid)


def stamp(path: Path) -> object:
    """Return a value that differs for every new file at this path; None without a file."""
    try:
        held = os.stat(path)
    except (OSError, ValueError):
        return None
    return held.st_ino, held.st_mtime_ns, held.st_size


def _wrong(document: dict[str, Any]) -> str | None:
    found = problem(document)
    if found is not None:
        return found
    with contextlib.suppress(ValueError):
        if datetime.datetime.fromisoformat(document["written"]).tzinfo is not None and document["pid"] > 0:
            return None
    return "written is not a time in UTC, or pid is not a process"

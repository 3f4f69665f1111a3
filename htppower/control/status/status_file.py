"""A controller's status in a file, for other processes: whole, on change, and at most once a second."""

from __future__ import annotations

import contextlib
import datetime
import errno
import functools
import json
import logging
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock
from htppower.control.context_manager import Closing
from htppower.control.files.background_work import BackgroundWork
from htppower.control.files.new_file import put_in_place
from htppower.control.status.to_json import KIND, status_document, without_times
from htppower.events import State
from htppower.profiles.regular_file import NotRegular, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.companions import Companions
    from htppower.control.core.event_bus import Wants
    from htppower.control.status.controller_status import ControllerStatus
    from htppower.control.time.base import Time
    from htppower.events import Event

_LOGGER = logging.getLogger("htppower")

# The kind stands near the beginning of a status.
_ENOUGH_TO_TELL = 4096

PERIOD_US = 1_000_000
# How long closing waits for the disk.
LONGEST_WRITE_S = 1.0


def serve(
    path: str | os.PathLike[str] | None,
    status: Callable[[], ControllerStatus],
    subscribe: Callable[[Callable[[Event], object], Wants], Callable[[], None]],
    time: Time,
    companions: Companions,
) -> StatusFile:
    """Return the file of a controller; without a path one in the runtime folder of the user, removed when closed.

    Raises:
        OSError, SessionClosed, ValueError: as ``StatusFile``.
    """
    if path is not None:
        return StatusFile(path, status, subscribe, time, companions)
    from htppower.control.status.runtime_folder import reserved_file  # noqa: PLC0415 - only where none is named

    place = reserved_file()
    try:
        return StatusFile(place, status, subscribe, time, companions, removed=True)
    except BaseException:
        with contextlib.suppress(OSError):
            place.unlink()
        raise


class StatusFile(Closing):
    """The file of ``VoteController.serve_status``; ``close`` ends it, and so does closing the controller.

    It is written on a thread of its own, so that the disk delays no vote: when an event tells of a change, and once a
    second while a session is raised, an inference or a native call was seen in flight, or a recording waits to be
    written, which may change without an event. Otherwise no timer runs. A file that can't be written is logged as a
    WARNING, once, and is tried again at the next change.

    Args:
        path: the file. It is put in its place whole, so its folder must be writable. A link there is replaced.
        status: returns the status.
        subscribe: calls a subscriber with the events that it wants; returns what ends that.
        time: clock and alarms.
        companions: close it with its controller.
        removed: remove the file when it is closed, instead of marking it as closed.

    Raises:
        OSError: the file can't be written.
        SessionClosed: the controller is closed.
        ValueError: there is something of that name that is no file, such as a device.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        status: Callable[[], ControllerStatus],
        subscribe: Callable[[Callable[[Event], object], Wants], Callable[[], None]],
        time: Time,
        companions: Companions,
        *,
        removed: bool = False,
    ) -> None:
        self._path = Path(path)
        # The process may change its folder. A link in the last part is not followed: anybody may have put it there.
        text = os.path.abspath(path)  # noqa: PTH100 - as the text that os.replace takes
        self._target = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))  # noqa: PTH118, PTH119, PTH120
        self._removed = removed
        self._status = status
        self._time = time
        # Under it a file is written, one after the other.
        self._writing = whole_lock()
        # Whether nothing is written any more but the last status; whether that is; and whether all else is done, too.
        self._ending = self._finished = self._closed = False
        self._failed = False
        self._known: dict[str, Any] | None = None
        _require_file(self._path, self._target)
        self._background = BackgroundWork(time, "htppower-status", self._look, pause_us=PERIOD_US)
        self._unsubscribe: Callable[[], None] | None = None
        self._unfollow: Callable[[], None] | None = None
        give_up_soon = functools.partial(time.call_soon, self._give_up)
        try:
            # Asked under the lock of events: while a look is due, an event costs nothing more.
            self._unsubscribe = subscribe(self._changed, lambda _kind, _details: not self._background.asked)
            self._unfollow = companions.add(self.close, self._disown)
            now = self._status()
            self._put(now, closed=False)
            if _moves(now):
                self._background.ask()
        except BaseException:
            # Nobody gets the file, so nobody would close it, also where a second exception comes here.
            give_up_soon()
            self._give_up()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def closed(self) -> bool:
        """Whether nothing is written any more."""
        return self._closed

    def close(self) -> None:
        """Write the status a last time, marked as closed, and nothing from then on. Closing twice is fine."""
        if self._closed:
            return
        self._background.stop()
        self._ending = True
        self._end_calls()
        # Taken here, not on the worker: the caller may hold what a status waits for.
        self._background.do(functools.partial(self._finish, self._status()), LONGEST_WRITE_S)
        self._background.close()
        # Last: where an exception from outside comes before, closing again goes on.
        self._closed = True

    def _give_up(self) -> None:
        """Write nothing, and be called by nothing; it may be done twice."""
        self._ending = self._finished = self._closed = True
        self._end_calls()
        self._background.close()

    def _end_calls(self) -> None:
        """Be called by neither the controller nor its events any more."""
        if self._unfollow is not None:
            self._unfollow()
        if self._unsubscribe is not None:
            self._unsubscribe()

    def _disown(self) -> None:
        """In a forked child: the file is the parent's."""
        self._writing = whole_lock()
        self._ending = self._finished = self._closed = True
        self._background.disown()

    def _changed(self, _event: Event) -> None:
        self._background.ask()

    def _look(self) -> None:
        """Write what there is now (on the worker)."""
        if self._ending:
            return
        now = self._status()
        self._write(now, closed=False)
        if _moves(now):
            self._background.ask()

    def _finish(self, last: ControllerStatus) -> None:
        """Write the last status, or remove the file; once, since the next controller may have one of that name."""
        with self._writing:
            if self._finished:
                return
            if self._removed:
                with contextlib.suppress(OSError):
                    os.unlink(self._target)  # noqa: PTH108 - as the texts that os takes
            else:
                self._write(last, closed=True)
            self._finished = True

    def _write(self, status: ControllerStatus, *, closed: bool) -> None:
        try:
            self._put(status, closed=closed)
        except OSError as error:
            if error.errno is None:
                # The time limit of a host.
                raise
            self._known = None
            if not self._failed:
                _LOGGER.warning(
                    "the status can't be written to %s: %s; tried again at the next change", self._path, error
                )
            self._failed = True
        else:
            self._failed = False

    def _put(self, status: ControllerStatus, *, closed: bool) -> None:
        """Put a status in place of the last, unless only the time has passed and nobody waits for that."""
        with self._writing:
            if self._ending and not closed:
                return
            document = status_document(status, datetime.datetime.now(datetime.timezone.utc), closed=closed)
            known = without_times(document)
            if known == self._known and not _moves(status):
                return
            _replace(self._path, self._target, json.dumps(document, separators=(",", ":")))
            self._known = known


def _moves(status: ControllerStatus) -> bool:
    """Return whether a status may change without an event."""
    recording = status.recording
    if recording is not None and (recording.pending or recording.error is not None):
        return True
    if status.calls_under_way:
        return True
    return any(session.state is State.RAISED or session.in_flight for session in status.sessions)


def _require_file(path: Path, target: str) -> None:
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        held = read_regular_file(target, _ENOUGH_TO_TELL)
    except NotRegular:
        raise ValueError(f"{path} is no file: name one, which is replaced by each status") from None
    if held and KIND.encode("ascii") not in held:
        raise ValueError(f"{path} holds something else than a status: remove it, or name another file")


def _replace(path: Path, target: str, text: str) -> None:
    """Put a file with this text in the target's place."""
    try:
        put_in_place(target, f"{text}\n".encode("ascii")).close()
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None

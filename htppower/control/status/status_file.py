"""A controller's status in a file, for other processes: replaced after each change, at most once a second."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import Closing
from htppower.control.files.background_work import BackgroundWork
from htppower.control.files.new_file import begin_of, place_of, put_in_place, something_else
from htppower.control.status.document import KIND, may_change, status_document, without_times
from htppower.control.status.runtime_folder import reserved_file

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.companions import Companions
    from htppower.control.event_bus import Wants
    from htppower.control.status.controller_status import ControllerStatus
    from htppower.control.time.base import Time
    from htppower.events import Event

_LOGGER = logging.getLogger("htppower")

# The first bytes of a status file, which must contain its kind.
_BEGIN_BYTES = 4096

PERIOD_US = 1_000_000
# How long ``close`` waits for the disk, in seconds.
LONGEST_WRITE_S = 1.0


class StatusFile(Closing):
    """The file of ``VoteController.serve_status``; ``close`` ends it, and so does closing the controller.

    A worker thread writes it, so that the disk delays no vote. It is written after an event, and once a second while
    something may change without an event: while a session is raised, an inference or a native call is in flight, or a
    recording has inferences to write. Otherwise no timer runs, unless there is a clock reader: then a new reading is
    looked for once a second. If the file can't be written, a WARNING is logged once, and the next change is tried
    again.

    The file is replaced as a whole, so its folder must be writable. A link at the path is replaced, too. If no path is
    named, the file is in the runtime folder of the user, and is removed at the end instead of being marked as closed.

    Raises:
        OSError: the file can't be written.
        SessionClosed: the controller is closed.
        ValueError: there is something else than a file at the path, or a file that is not a status.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        status: Callable[[], ControllerStatus],
        subscribe: Callable[[Callable[[Event], object], Wants], Callable[[], None]],
        time: Time,
        companions: Companions,
    ) -> None:
        self._status = status
        self._removed = path is None
        self._path = reserved_file() if path is None else Path(path)
        self._target = place_of(self._path)
        # Held while the file is written: the first time here, and then by the worker.
        self._writing = threading.RLock()
        self._closed = self._failed = False
        self._known: dict[str, Any] | None = None
        self._background = BackgroundWork(time, "htppower-status", self._look, pause_us=PERIOD_US)
        self._calls = contextlib.ExitStack()
        try:
            held = None if self._target.is_symlink() else begin_of(self._target, _BEGIN_BYTES, "the status")
            if held and KIND.encode("ascii") not in held:
                raise something_else(self._target, "a status")  # noqa: TRY301
            # An event costs nothing more while the next write is due.
            self._calls.callback(subscribe(self._changed, lambda _kind, _details: not self._background.asked))
            self._calls.callback(companions.add(self.close, self._disown))
            self._write(self._document())
        except Exception:
            self._calls.close()
            self._background.close()
            if self._removed:
                self._remove()
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
        """Write the status a last time, marked as closed, and write nothing after that. Closing twice has no effect."""
        if not self._closed:
            self._background.stop()
            self._calls.close()
            # This thread takes the status, not the worker: the caller may hold a lock that the worker would need.
            self._background.do(functools.partial(self._finish, self._document(closed=True)), LONGEST_WRITE_S)
            self._background.close()

    def _disown(self) -> None:
        """Leave the file to the parent, in a forked child."""
        self._closed = True
        self._background.disown()

    def _changed(self, _event: Event) -> None:
        self._background.ask()

    def _document(self, *, closed: bool = False) -> dict[str, Any]:
        return status_document(self._status(), closed=closed)

    def _look(self) -> None:
        """Write the current status, on the worker."""
        self._try_to_write(self._document())

    def _finish(self, last: dict[str, Any]) -> None:
        """Write the last status, or remove the file, only once: later another controller may use the same name."""
        with self._writing:
            if not self._closed and self._removed:
                self._remove()
            elif not self._closed:
                self._try_to_write(last)
            self._closed = True

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._target.unlink()

    def _try_to_write(self, document: dict[str, Any]) -> None:
        try:
            self._write(document)
            self._failed = False
        except OSError as error:
            if not self._failed:
                _LOGGER.warning(
                    "the status can't be written to %s: %s; tried again at the next change", self._path, error
                )
            self._failed = True

    def _write(self, document: dict[str, Any]) -> None:
        """Replace the file, unless only the time has passed since the last write."""
        known, changing = without_times(document), may_change(document)
        # No event tells that a reader has a new reading.
        again = changing or bool(document.get("clocks"))
        with self._writing:
            if self._closed:
                return
            if known == self._known and not changing:
                if again:
                    self._background.ask()
                return
            self._known = None
            text = json.dumps(document, separators=(",", ":"))
            try:
                put_in_place(self._target, f"{text}\n".encode("ascii")).close()
                self._known = known
            except OSError as error:
                error.filename = str(self._path)
                raise
            finally:
                if again:
                    self._background.ask()

"""The status files that a controller serves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from htppower.errors import SessionClosed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.status.controller_status import ControllerStatus
    from htppower.control.status.status_file import StatusFile
    from htppower.control.time.base import Time
    from htppower.events import Event


class Serving:
    """Opens status files, and ends them with their controller; the arguments are as for ``StatusFile``."""

    def __init__(
        self,
        status: Callable[[], ControllerStatus],
        subscribe: Callable[[Callable[[Event], object], Callable[[Event], bool]], Callable[[], None]],
        time: Time,
    ) -> None:
        self._status = status
        self._subscribe = subscribe
        self._time = time
        self._files: tuple[StatusFile, ...] = ()
        self._lock = threading.Lock()
        self._closed = False

    def open(self, path: str | os.PathLike[str]) -> StatusFile:
        """Write the status to a file from now on."""
        from htppower.control.status.status_file import StatusFile  # noqa: PLC0415 - few hosts pay for it

        made = StatusFile(path, self._status, self._subscribe, self._time)
        with self._lock:
            if not self._closed:
                self._files = (*(file for file in self._files if not file.closed), made)
                return made
        # The controller was closed meanwhile, and knows nothing of the file.
        made.close()
        raise SessionClosed("the controller is closed: make a new one")

    def close(self) -> None:
        """Write every file a last time."""
        with self._lock:
            self._closed = True
        for file in self._files:
            file.close()

    def disown(self) -> None:
        """In a forked child: the files are the parent's."""
        self._lock = threading.Lock()
        for file in self._files:
            file.disown()

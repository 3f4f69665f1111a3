"""The status files that a controller serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.events import Event
    from htppower.status import ControllerStatus
    from htppower.status_file import StatusFile
    from htppower.timing import Time


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

    def open(self, path: str | os.PathLike[str]) -> StatusFile:
        """Write the status to a file from now on."""
        from htppower.status_file import StatusFile  # noqa: PLC0415 - few hosts pay for it

        made = StatusFile(path, self._status, self._subscribe, self._time)
        self._files = (*(file for file in self._files if not file.closed), made)
        return made

    def close(self) -> None:
        """Write every file a last time."""
        for file in self._files:
            file.close()

    def disown(self) -> None:
        """In a forked child: the files are the parent's."""
        for file in self._files:
            file.disown()

"""The handle of a recording, as its user sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.arguments import checked_timeout
from htppower.control.context_manager import Closing
from htppower.control.recording.background_writer import LONGEST_WRITE_S

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.control.recording.background_writer import BackgroundWriter
    from htppower.control.time.base import Time


class Recording(Closing):
    """The recording of ``VoteController.record``; ``close`` ends it, and so does closing the controller.

    It is written on a thread of its own, one second after the first inference that is not written yet has ended, and
    when it is closed. A file that can't be written, as on a full disk, is logged as a WARNING, once, and is tried again
    every second; meanwhile the inferences wait, and when too many do, the oldest are lost. The file says where.
    """

    def __init__(self, writer: BackgroundWriter, time: Time) -> None:
        self._writer = writer
        self._time = time

    @property
    def path(self) -> Path:
        """The newest file."""
        return self._writer.path

    @property
    def closed(self) -> bool:
        """Whether nothing is recorded any more."""
        return self._writer.closed

    @property
    def lost(self) -> int:
        """How many inferences are lost, as the files say. Too many waited, or one was collected before it was ended."""
        return self._writer.status().lost

    def flush(self, timeout_s: float = LONGEST_WRITE_S) -> bool:
        """Write what has ended up to now; return whether that was done within the time, in seconds.

        Raises:
            TypeError: the time is no number.
            ValueError: it is negative, or longer than a thread can wait.
        """
        timeout_s = checked_timeout(timeout_s)
        return self._writer.flush(timeout_s)

    def close(self) -> None:
        """Write what has ended up to now, and record nothing from then on. Closing twice is fine."""
        self._writer.close()

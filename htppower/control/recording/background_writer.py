"""Writes the inferences of a controller to a file in the background."""

from __future__ import annotations

import functools
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.files.background_work import BackgroundWork
from htppower.control.recording.recording_status import RecordingStatus
from htppower.control.recording.ring import Ring
from htppower.control.recording.trace_writer import TraceWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.core.plans import Plan
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")

PERIOD_US = 1_000_000
# How long closing waits for the disk.
LONGEST_WRITE_S = 1.0
# Room for the begin of a file and some inferences.
LEAST_BYTES = 4096


class _Bell:
    """What the first inference rings that ends after everything was taken to be written.

    Each time of rest has one of its own: who is late in noting that it has rung can't silence the next.

    Attributes:
        rung: whether it has rung.
    """

    __slots__ = ("rung",)

    def __init__(self) -> None:
        self.rung = False


class BackgroundWriter:
    """Writes what it is given a second after the first of it, and at the end, on a thread of its own.

    Args:
        path: the file.
        time: clock and alarms.
        ended: called with it when it is closed, with no lock held; more than once where that is interrupted.
        most_bytes: the largest size of a file, in bytes, at least 4096.
        files: how many files there are at most, the newest included, at least 1.
        most_pending: how many inferences wait at most, at least 1.
        name: what the controller is, as the file says.

    Raises:
        OSError: the file can't be written.
        ValueError: a number is too small, another controller writes the file, or it holds something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        time: Time,
        ended: Callable[[BackgroundWriter], object],
        *,
        most_bytes: int,
        files: int,
        most_pending: int,
        name: str | None,
    ) -> None:
        _check("most_bytes", most_bytes, LEAST_BYTES)
        _check("files", files, 1)
        _check("most_pending", most_pending, 1)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name is {name!r}: a text, or None")
        self._path = Path(path)
        self._ended = ended
        self._ring = Ring(most_pending)
        self._adding = self._ring.lock
        self._number, self._extend = self._ring.number, self._ring.extend
        self._bell = _Bell()
        # Under it the file is written.
        self._writing = whole_lock()
        self._closed = False
        # Whether nothing is written any more.
        self._finished = False
        self._error: str | None = None
        self._writer = TraceWriter(
            str(self._path), self._ring, most_bytes=most_bytes, files=files, name=name, now_us=lambda: time.now_us
        )
        self._background = BackgroundWork(time, "htppower-recording", self._look, wait_us=PERIOD_US)
        # Called on the hot path, so it takes no lock: one call of a function in C.
        self._ask_soon = functools.partial(time.call_soon, self._background.ask)

    @property
    def path(self) -> Path:
        """The newest file."""
        return self._path

    @property
    def closed(self) -> bool:
        """Whether nothing is recorded any more."""
        return self._closed

    @property
    def lost(self) -> int:
        """How many inferences were lost since too many waited to be written, as far as the file says."""
        return self._writer.lost

    def status(self) -> RecordingStatus:
        """Return how it goes; wait for no disk."""
        writer = self._writer
        return RecordingStatus(str(self._path), writer.written, writer.pending, writer.lost, self._error)

    def add(self, label: tuple[SessionRecord, Plan], begun_ns: int, ended_ns: int, cold: bool) -> None:
        """Record an inference that has ended; wait for no disk. The gate of its session is held."""
        with self._adding:
            # First the number: where an interrupt comes before the rest, it is missing.
            self._extend((self._number(), label, begun_ns, ended_ns, cold))
        bell = self._bell
        if not bell.rung:
            self._ask_soon()
            bell.rung = True

    def flush(self, timeout_s: float = LONGEST_WRITE_S) -> bool:
        """Write what has ended up to now; return whether that is done within the time, in seconds."""
        return self._background.do(self._write, timeout_s) and self._error is None

    def close(self) -> None:
        """Write what has ended up to now, and record nothing from then on. Closing twice is fine."""
        if self._closed:
            return
        self._ended(self)
        if not self._background.do(self._finish, LONGEST_WRITE_S):
            _LOGGER.warning("the recording %s is not written yet: the disk is slow", self._path)
        self._background.close()
        # Last: where an exception from outside comes before, closing again goes on.
        self._closed = True

    def disown(self) -> None:
        """In a forked child: the file is the parent's."""
        self._writing = whole_lock()
        self._closed = self._finished = True
        self._background.disown()
        self._writer.close()

    def _look(self) -> None:
        """Write what has ended (on the worker)."""
        # Before the rest is taken: what ends after that rings.
        self._bell = _Bell()
        self._write()
        if self._error is not None:
            self._background.ask()

    def _write(self, *, finish: bool = False) -> None:
        with self._writing:
            if self._finished:
                return
            try:
                (self._writer.finish if finish else self._writer.write)()
            except (OSError, ValueError) as error:
                self._failed(error)
            else:
                self._error = None

    def _failed(self, error: OSError | ValueError) -> None:
        before, self._error = self._error, str(error)
        if before is None:
            _LOGGER.warning("the recording can't be written to %s: %s; tried again every second", self._path, error)

    def _finish(self) -> None:
        self._write(finish=True)
        with self._writing:
            self._finished = True
            self._writer.close()


def _check(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}: a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}: at least {least}")

"""The recording of a controller: the queue of inferences, and the thread that writes them to the files."""

from __future__ import annotations

import functools
import logging
from collections import deque
from typing import TYPE_CHECKING

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_timeout, checked_whole
from htppower.control.context_manager import Closing
from htppower.control.files.background_work import BackgroundWork
from htppower.control.recording.trace_files import CLOCK, LOST, TraceFiles, clock_line, header, lines

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from htppower.control.clock.reading import ClockReading
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan
    from htppower.control.recording.trace_files import Ended
    from htppower.control.registry import Registry
    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")

MOST_BYTES = 64 * 1024 * 1024
MOST_PENDING = 65_536
# The most readings of the clock between two inferences; the oldest are left out.
_MOST_CLOCKS = 300
PERIOD_US = 1_000_000
# The smallest file has room for the header and some inferences.
_LEAST_BYTES = 4096
# How long ``close`` waits for the disk, in seconds.
_LONGEST_WRITE_S = 1.0


@attrs.frozen
class RecordingStatus:
    """The state of a recording.

    Attributes:
        path: the newest file.
        written: how many inferences are written, over all files.
        pending: how many inferences wait to be written.
        lost: how many inferences are lost: too many waited, or they were garbage collected before they were ended.
        error: why the last write failed; None if it succeeded.
    """

    path: str
    written: int
    pending: int
    lost: int
    error: str | None


class Recording(Closing):
    """The recording of ``VoteController.record``; ``close`` ends it, and so does closing the controller.

    A separate thread writes the file, one second after the end of the first inference that is not written yet, and when
    the recording is closed. If the file can't be written, as on a full disk, a WARNING is logged once, and the write is
    retried every second. Meanwhile the inferences wait, and if too many wait, the oldest are lost. The file shows
    where.
    """

    def __init__(self, files: TraceFiles, most_pending: int, registry: Registry, time: Time) -> None:
        self._files = files
        self._most_pending = most_pending
        self._registry = registry
        # Protects the queue, since several sessions add to it at the same time. It is held only for moments.
        self._lock = whole_lock()
        self._queue: deque[Ended] = deque()
        self._clocks: deque[str] = deque(maxlen=_MOST_CLOCKS)
        self._dropped = 0
        self._asked = False
        # Held while the file is written.
        self._writing = whole_lock()
        self._lines: list[str] = []
        self._written = self._lost = 0
        self._error: str | None = None
        self._finished = self._closed = False
        self._background = BackgroundWork(time, "htppower-recording", self._write, wait_us=PERIOD_US)
        # Arming the alarm takes too long for the hot path, so another thread does it.
        self._ask_soon = functools.partial(time.call_soon, self._background.ask)
        registry.record_to(self._add)

    @property
    def path(self) -> Path:
        """The newest file."""
        return self._files.path

    @property
    def closed(self) -> bool:
        """Whether the recording has ended."""
        return self._closed

    @property
    def lost(self) -> int:
        """How many inferences are lost, as too many waited, or they were garbage collected before they were ended."""
        return self._lost

    def flush(self, timeout_s: float = _LONGEST_WRITE_S) -> bool:
        """Write the inferences that have ended; return whether that was done within the timeout, in seconds.

        Raises:
            TypeError: the timeout is not a number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        return self._background.do(self._write, checked_timeout(timeout_s)) and self._error is None

    def close(self) -> None:
        """Write the inferences that have ended, and record no more. Closing twice has no effect."""
        if self._closed:
            return
        self._registry.end_record(self._add)
        if not self._background.do(self._finish, _LONGEST_WRITE_S):
            _LOGGER.warning("the recording %s is not written yet: the disk is slow", self.path)
        self._background.close()
        # Set last, so that closing again completes a close that an exception has interrupted.
        self._closed = True

    def _add(self, label: tuple[SessionRecord, Plan], begun_ns: int, ended_ns: int, cold: bool) -> None:
        """Queue an inference that has ended.

        The gate of its session is held, so this must be fast, and does not wait for the disk.
        """
        with self._lock:
            queue = self._queue
            queue.append((label, begun_ns, ended_ns, cold))
            if len(queue) > self._most_pending:
                queue.popleft()
                self._dropped += 1
            if not self._asked:
                self._ask_soon()
                self._asked = True

    def _add_clock(self, reading: ClockReading, voted: int | None) -> None:
        """Write a reading of the clock with the next inferences.

        The files have a limit: readings of an idle host would push its inferences out of them.
        """
        with self._lock:
            self._clocks.append(clock_line(reading, voted))

    def _status(self) -> RecordingStatus:
        pending = len(self._queue) + len(self._lines)
        return RecordingStatus(str(self.path), self._written, pending, self._lost, self._error)

    def _write(self) -> None:
        """Write the queue. If that fails, try again a second later."""
        with self._writing:
            if self._finished:
                return
            try:
                # Lines of an earlier write that failed go first. Until they are written, the inferences stay in the
                # queue, whose length is limited.
                self._write_lines()
                self._take()
                self._write_lines()
                self._error = None
            except (OSError, ValueError) as error:
                if self._error is None:
                    text = "the recording can't be written to %s: %s; tried again every second"
                    _LOGGER.warning(text, self.path, error)
                self._error = str(error)
                self._background.ask()

    def _take(self) -> None:
        with self._lock:
            queue, self._queue = self._queue, deque()
            dropped, self._dropped, self._asked = self._dropped, 0, False
            clocks = list(self._clocks)
            self._clocks.clear()
        self._lines, lost = lines(queue, dropped)
        self._lines += clocks
        self._lost += lost

    def _write_lines(self) -> None:
        while self._lines:
            count = self._files.append(self._lines)
            self._written += sum(not line.startswith((LOST, CLOCK)) for line in self._lines[:count])
            del self._lines[:count]

    def _finish(self) -> None:
        with self._writing:
            self._write()
            self._finished = True
            self._files.close()

    def _disown(self) -> None:
        """In a forked child, leave the file to the parent."""
        self._writing = whole_lock()
        self._finished = self._closed = True
        self._background.disown()
        self._files.close()


class Recorder:
    """Begins recordings, one at a time.

    If Ctrl-C interrupts ``begin``, the recording may have begun, and lasts until ``close``.
    """

    def __init__(self, registry: Registry, time: Time) -> None:
        self._registry = registry
        self._time = time
        # Held while a recording begins.
        self._beginning = whole_lock()
        self._recording: Recording | None = None

    def begin(
        self, path: str | os.PathLike[str], most_bytes: int, files: int, most_pending: int, name: str | None
    ) -> Recording:
        """Begin a recording; the arguments, and the errors, are those of ``VoteController.record``."""
        limits = (("most_bytes", most_bytes, _LEAST_BYTES), ("files", files, 1), ("most_pending", most_pending, 1))
        for option, value, least in limits:
            if checked_whole(value, f"{option} is", "a whole number") < least:
                raise ValueError(f"{option} is {value}: at least {least}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name is {name!r}: a text, or None")
        with self._beginning:
            self._registry.require_open()
            if self._recording is not None and not self._recording.closed:
                raise ValueError(f"this controller is recorded to {self._recording.path}: close that recording first")
            made = TraceFiles(path, files, most_bytes, lambda: header(self._time.now_us, name))
            self._recording = Recording(made, most_pending, self._registry, self._time)
            return self._recording

    def status(self) -> RecordingStatus | None:
        """Return the status of the recording, without waiting for the disk; None without a recording."""
        recording = self._recording
        return None if recording is None or recording.closed else recording._status()  # noqa: SLF001 - not for users

    def note_clock(self, reading: ClockReading, voted: Callable[[], int | None]) -> None:
        """Record a reading of the clock, with the voted corner at that time; do nothing without a recording."""
        recording = self._recording
        if recording is not None and not recording.closed:
            recording._add_clock(reading, voted())  # noqa: SLF001 - not for users

    def flush(self) -> None:
        """Write the inferences that have ended, and wait for the disk as long as ``close`` does."""
        if (recording := self._recording) is not None:
            recording.flush()

    def close(self) -> None:
        """End the recording."""
        with self._beginning:
            recording = self._recording
        if recording is not None:
            recording.close()

    def disown(self) -> None:
        """In a forked child, leave the file to the parent. The registry and the gates are disowned after that."""
        self._beginning = whole_lock()
        if self._recording is not None:
            self._recording._disown()  # noqa: SLF001 - not for users

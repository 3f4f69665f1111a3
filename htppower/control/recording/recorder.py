"""What a controller has of recordings: at most one at a time, on the gates of all its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    import os

    from htppower.control.core.registry import Registry
    from htppower.control.recording.background_writer import BackgroundWriter
    from htppower.control.recording.recording import Recording
    from htppower.control.recording.recording_status import RecordingStatus
    from htppower.control.time.base import Time

MOST_BYTES = 64 * 1024 * 1024
MOST_PENDING = 65_536


class Recorder:
    """Begins recordings, and puts them on the gates of sessions; the registry has what records those to come."""

    def __init__(self, registry: Registry, time: Time) -> None:
        self._registry = registry
        self._time = time
        # The registry's lock protects it.
        self._recording: BackgroundWriter | None = None
        self._changing = whole_lock()

    def begin(self, path: str | os.PathLike[str], **options: Any) -> Recording:
        """Begin a recording; the options are those of ``BackgroundWriter``.

        Raises:
            OSError, SessionClosed, TypeError, ValueError: as ``VoteController.record``.
        """
        from htppower.control.recording.background_writer import BackgroundWriter  # noqa: PLC0415 - few hosts pay for it
        from htppower.control.recording.recording import Recording  # noqa: PLC0415 - likewise

        self._require_none()
        made = BackgroundWriter(path, self._time, self._end, **options)
        try:
            self._put_on(made)
            return Recording(made, self._time)
        except BaseException:
            # Nobody gets it, so nobody would close it.
            self._time.call_soon(made.close)
            made.close()
            raise

    def status(self) -> RecordingStatus | None:
        """Return how the recording goes, None where there is none."""
        recording = self._recording
        return None if recording is None else recording.status()

    def flush(self) -> None:
        """Write what has ended up to now, and wait for that as long as for the disk in ``close``."""
        recording = self._recording
        if recording is not None:
            recording.flush()

    def close(self) -> None:
        """End the recording."""
        recording = self._recording
        if recording is not None:
            recording.close()

    def disown(self) -> None:
        """In a forked child: the file is the parent's. The registry and the gates are disowned after that."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.disown()

    def _require_none(self) -> None:
        self._registry.require_open()
        recording = self._recording
        if recording is not None:
            raise ValueError(f"this controller is recorded to {recording.path}: close that recording first")

    def _put_on(self, recording: BackgroundWriter) -> None:
        with self._changing:
            # Again: another thread may have been faster, or has closed the controller.
            self._require_none()
            self._recording = recording
            self._registry.record_to(recording.add)

    def _end(self, recording: BackgroundWriter) -> None:
        with self._changing:
            if self._recording is recording:
                self._registry.record_to(None)
                self._recording = None

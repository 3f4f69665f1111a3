"""Writes recorded inferences to files: each once, whatever comes between, and in whole lines."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.control.recording.missing import Missing
from htppower.control.recording.ring import ended
from htppower.control.recording.trace_files import TraceFiles, append
from htppower.control.recording.trace_lines import LostLine, header, lines, lost_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO

    from htppower.control.recording.ring import Ring


class _Progress(NamedTuple):
    """How far the writing has come. It is replaced as one: an interrupt finds the old or the new.

    Attributes:
        file: the newest file, None where there is none.
        empty: whether it holds no line yet but those with which it begins.
        size: its size.
        fields: what was taken from the ring.
        missing: what is known of the numbers of all before that.
        lines: what these come to.
        done: how many of these are written.
        written, lost: how many inferences they and those before have been.
    """

    file: FileIO | None
    empty: bool
    size: int
    fields: list[Any]
    missing: Missing
    lines: list[str]
    done: int
    written: int
    lost: int


class TraceWriter:
    """Writes what is in a ring to files. One thread at a time calls it.

    Args:
        path, files: as for ``TraceFiles``.
        ring: what is to be written.
        most_bytes: the largest size of a file, but for one with a single inference.
        name: what the controller is, as every file says.
        now_us: returns the time by the controller's clock.

    Raises:
        OSError, ValueError: as ``TraceFiles.require_usable`` and ``TraceFiles.begin``.
    """

    def __init__(
        self,
        path: str,
        ring: Ring,
        *,
        most_bytes: int,
        files: int,
        name: str | None,
        now_us: Callable[[], int],
    ) -> None:
        self._ring = ring
        self._files = TraceFiles(path, files)
        self._most_bytes = most_bytes
        self._name = name
        self._now_us = now_us
        self._pid = os.getpid()
        self._now = _Progress(
            None, empty=True, size=0, fields=[], missing=Missing(), lines=[], done=0, written=0, lost=0
        )
        self._files.require_usable()
        self._begin()

    @property
    def path(self) -> str:
        """The newest file."""
        return self._files.path

    @property
    def written(self) -> int:
        """How many inferences are written."""
        return self._now.written

    @property
    def pending(self) -> int:
        """How many inferences are not written yet."""
        now = self._now
        return len(self._ring) + len(now.lines) - now.done

    @property
    def lost(self) -> int:
        """How many inferences are lost, as the files say."""
        return self._now.lost

    def write(self) -> None:
        """Write what there is.

        Raises:
            OSError, ValueError: it can't be written; what is not is kept for the next call.
        """
        # What an earlier call has left.
        self._write_lines()
        self._take()
        self._write_lines()

    def finish(self) -> None:
        """Write what there is, and that what is missing is lost: nothing comes any more.

        Raises:
            OSError, ValueError: it can't be written.
        """
        self.write()
        self._take()
        self._write_lines()

    def close(self) -> None:
        """Close the file; it is whole already."""
        if self._now.file is not None:
            self._now.file.close()
            self._now = self._now._replace(file=None)

    def _begin(self) -> None:
        before = self._now.file
        # It is closed by who makes the new one, who may be interrupted.
        self._now = self._now._replace(file=None)
        first = header(self._pid, self._now_us(), self._name)
        file = self._files.begin(first, before)
        self._now = self._now._replace(file=file, empty=True, size=len(first))

    def _take(self) -> None:
        """Make lines of what is in the ring, and of what was lost before. All lines before are written."""
        now = self._now
        self._ring.move_to(now.fields)
        came = ended(now.fields)
        lost, missing = now.missing.after(came)
        told = [lost_line(self._pid, gap.ended_ns // 1000, gap.end - gap.first) for gap in lost]
        made = [*told, *lines(self._pid, came)]
        self._now = now._replace(fields=[], missing=missing, lines=made, done=0)

    def _write_lines(self) -> None:
        while self._now.done < len(self._now.lines):
            self._write_some()

    def _write_some(self) -> None:
        """Write what fits into the newest file, or begin another."""
        now = self._now
        if now.file is None or not self._files.is_newest(now.file, now.size):
            self._begin()
            return
        fitting = self._fitting(now)
        if not fitting and not now.empty:
            self._begin()
            return
        some = now.lines[now.done : now.done + max(fitting, 1)]
        size = append(now.file, now.size, "".join(some).encode("ascii"))
        lost = [line.inferences for line in some if isinstance(line, LostLine)]
        self._now = now._replace(
            empty=False,
            size=size,
            done=now.done + len(some),
            written=now.written + len(some) - len(lost),
            lost=now.lost + sum(lost),
        )

    def _fitting(self, now: _Progress) -> int:
        """Return how many lines fit into the newest file."""
        left = itertools.islice(now.lines, now.done, None)
        sizes = itertools.accumulate(map(len, left), initial=now.size)
        return sum(1 for _ in itertools.takewhile(self._most_bytes.__ge__, itertools.islice(sizes, 1, None)))

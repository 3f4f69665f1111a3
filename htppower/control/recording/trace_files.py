"""The files of a recording, and how they are written.

The lines are events of Chrome's trace format, in an array without its closing bracket. The format allows the missing
bracket, so after a crash a file is valid up to its last full line. Source: "Trace Event Format", a document of the
Chromium project.

The newest file is at the path, older files are at ``PATH.1``, ``PATH.2`` and so on. The newest file stays locked while
it is written, and so does the next file while it is made. The lock shows other controllers, of this or another process,
that the file is not left from an earlier run, so they do not rename it.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from htppower.control.files.new_file import NewFile, begin_of, is_at, locked, place_of, something_else, write_all
from htppower.control.gate.tokens import NOT_TIMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import FileIO

    from htppower.control.clock.reading import ClockReading
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan

# One inference: its session and plan, its begin and end in ns, and whether it waited for a call. The begin is NOT_TIMED
# if the inference was collected before it was ended.
Ended: TypeAlias = "tuple[tuple[SessionRecord, Plan], int, int, bool]"

# Every recording begins with the first text, and no other trace does. A line that reports lost inferences begins with
# the second, and a line with a reading of the clock with the third.
_MARK = b'[\n{"name":"htppower","ph":"M",'
LOST = '{"name":"lost",'
CLOCK = '{"name":"clock",'
_VERSION = 1
_MEASURED = ("clock_khz", "q6_use_percent", "hvx_use_percent", "hmx_use_percent", "power_mw")
_MOST_LINES_AT_ONCE = 1000


def header(now_us: int, controller: str | None) -> bytes:
    """Return the begin of a file: its process, its controller, and the time by both clocks."""
    clocks = {"clock": "us of the controller's clock", "wall_ns": time.time_ns(), "clock_us": now_us}
    args = json.dumps({"version": _VERSION, **clocks, "controller": controller}, separators=(",", ":"))
    return _MARK + f'"pid":{os.getpid()},"tid":0,"args":{args}}},\n'.encode("ascii")


def lines(ended: Iterable[Ended], dropped: int) -> tuple[list[str], int]:
    """Return the lines of inferences, and how many inferences are lost; ``dropped`` were lost before these."""
    made: list[str] = []
    pid, lost = os.getpid(), 0
    # By the id of the label: comparing plans takes longer than making a line.
    parts: dict[int, tuple[str, str]] = {}
    for label, begun_ns, ended_ns, cold in ended:
        begun_us, ended_us = begun_ns // 1000, ended_ns // 1000
        missing = dropped + (begun_ns == NOT_TIMED)
        if missing:
            args = f'"args":{{"inferences":{missing}}}'
            made.append(f'{LOST}"ph":"i","s":"p","pid":{pid},"tid":0,"ts":{ended_us},{args}}},\n')
            lost, dropped = lost + missing, 0
        if begun_ns != NOT_TIMED:
            begin, end = parts.get(id(label)) or parts.setdefault(id(label), _parts(pid, *label))
            made.append(f'{begin}{begun_us},"dur":{ended_us - begun_us}{end}{"true" if cold else "false"}}}}},\n')
    return made, lost


def clock_line(reading: ClockReading, voted: int | None) -> str:
    """Return the line of a reading: a counter, with the values that the source has, and the voted core corner."""
    values = {"voted_corner": voted, **{name: getattr(reading, name) for name in _MEASURED}}
    args = json.dumps({name: value for name, value in values.items() if value is not None}, separators=(",", ":"))
    begin = f'{CLOCK}"ph":"C","pid":{os.getpid()},"tid":0,"ts":{reading.when_ns // 1000}'
    return f'{begin},"id":{json.dumps(reading.source)},"args":{args}}},\n'


def _parts(pid: int, session: SessionRecord, plan: Plan) -> tuple[str, str]:
    """Return the text of a line before the times of an inference, and after them.

    Most inferences have the same text.
    """
    owner = str(session.number) if session.owner is None else session.owner
    args = f'"session":{json.dumps(owner)},"profile":{json.dumps(plan.profile.name)},"cold":'
    return f'{{"name":"inference","ph":"X","pid":{pid},"tid":{session.number},"ts":', f',"args":{{{args}'


class TraceFiles:
    """Writes lines to the newest file, and begins another when that is full.

    All methods raise OSError if the file can't be written, and ValueError if another controller writes it, or if a file
    that would be renamed is not a recording. A link at the path is renamed, not followed.

    Args:
        path: the newest file.
        files: how many files are kept, the newest included.
        most_bytes: the largest size of a file; a file is larger only if a single line does not fit.
        header: returns the first lines of a file.
    """

    def __init__(self, path: str | os.PathLike[str], files: int, most_bytes: int, header: Callable[[], bytes]) -> None:
        self.path = Path(path)
        self._place = place_of(path)
        self._places = [self._place, *(Path(f"{self._place}.{age}") for age in range(1, files))]
        self._most_bytes = most_bytes
        self._header = header
        self._file: FileIO | None = None
        self._size = self._header_size = 0
        for place in self._places:
            _require_recording(place)
        self._begin()

    def append(self, lines: list[str]) -> int:
        """Write the first lines, as many as fit into one file, or none if that fails; return how many."""
        file, count = self._file, self._fitting(lines)
        if file is None or not self._is_in_place() or not count:
            file, count = self._begin(), self._fitting(lines)
        data = "".join(lines[:count]).encode("ascii")
        file.seek(self._size)
        try:
            write_all(file, data)
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(self._size)
            raise
        self._size += len(data)
        return count

    def close(self) -> None:
        """Close the newest file, which unlocks it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _is_in_place(self) -> bool:
        """Return whether the newest file is still at the path: other programs may remove, rename or empty it."""
        file = self._file
        return file is not None and is_at(self._place, file) and os.fstat(file.fileno()).st_size >= self._size

    def _fitting(self, lines: list[str]) -> int:
        """Return how many lines fit into the newest file: at least one if it has only its header."""
        sizes = itertools.accumulate(map(len, lines[:_MOST_LINES_AT_ONCE]), initial=self._size)
        return max(bisect.bisect_right(list(sizes), self._most_bytes) - 1, int(self._size == self._header_size))

    def _begin(self) -> FileIO:
        """Begin a new file, and rename the older files."""
        header = self._header()
        try:
            new = NewFile(self._place, header, names=1)
        except FileExistsError:
            raise self._in_use() from None
        try:
            ours = self._is_in_place()
            self.close()
            if not ours:
                self._require_unlocked()
            self._rename()
        except (OSError, ValueError):
            new.discard()
            raise
        self._file = new.put()
        self._size = self._header_size = len(header)
        return self._file

    def _require_unlocked(self) -> None:
        _require_recording(self._place)
        try:
            with locked(self._place) as file:
                if file is None:
                    raise self._in_use()
        except OSError as error:
            if error.errno is None:
                raise  # the time limit of a host, which is not an error of the file
            # The path leads to nothing, or is a link.

    def _rename(self) -> None:
        """Move each file to the next place, up to the first free one. If there is none, the oldest file is removed."""
        last = len(self._places) - 1
        free = next((age for age in range(last) if not os.path.lexists(self._places[age])), last)
        for age in range(free, 0, -1):
            self._places[age - 1].replace(self._places[age])

    def _in_use(self) -> ValueError:
        return ValueError(f"{self._place} is being written by another controller: name another file")


def _require_recording(place: Path) -> None:
    held = None if place.is_symlink() else begin_of(place, len(_MARK) - 1, "the recording")
    # A process that was killed while it began a file may leave a part of the mark.
    if held is not None and not _MARK.startswith(held):
        raise something_else(place, "a recording")

"""Reads the trace that htppower records: a line for the recording, then a line for each inference.

``tid`` is the number of the session; ``ts`` and ``dur`` are whole us of the controller's clock; ``cold`` is whether the
inference waited for a call.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from htppower.tools.report.words import counted
from htppower.tools.tuning.traces.clocks import Clocks, without_clocks
from htppower.tools.tuning.traces.collected import LONGEST_US, Inferences, span_us
from htppower.tools.tuning.traces.readers.chrome_events import events
from htppower.tools.tuning.traces.readers.own_lines import NO_LINES, UsualLines

if TYPE_CHECKING:
    from htppower.tools.readers.limits import Room
    from htppower.tools.tuning.traces.readers.source import Source

VERSION = 1
# How far the wall clock may be set forward during a recording.
_SET_FORWARD_US = 60_000_000
_HEAD_LINES = 4


@attrs.frozen
class Run:
    """The process that wrote a file, from the head of the file.

    Attributes:
        pid: the process.
        wall_us, clock_us: when the file was begun, by the wall clock and by the controller's clock; 0 if not stated.
    """

    pid: int
    wall_us: int
    clock_us: int

    def goes_on_as(self, later: Run) -> bool:
        """Return whether a later file is of the same run, and so has the same clock.

        After a restart of the system, the clock has gone back, or has advanced less than the wall clock. Virtual time
        may advance more than the wall clock.
        """
        on_us = later.clock_us - self.clock_us
        return self.pid == later.pid and on_us >= 0 and later.wall_us - self.wall_us <= on_us + _SET_FORWARD_US


def run_of(head: bytes) -> Run | None:
    """Return the run that a file belongs to; None if its head does not state it."""
    for line in head.split(b"\n")[:_HEAD_LINES]:
        try:
            event = json.loads(line.strip(b" \t\r,[]"))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("name") == "htppower":
            return _run(event)
    return None


def _run(event: dict[str, Any]) -> Run:
    told = _told(event)
    pid, wall_ns, clock_us = event.get("pid"), told.get("wall_ns"), told.get("clock_us")
    return Run(
        pid if isinstance(pid, int) else 0,
        wall_ns // 1000 if isinstance(wall_ns, int) and isinstance(clock_us, int) else 0,
        clock_us if isinstance(clock_us, int) else 0,
    )


class Recording:
    """The content of the files of one recording; older files are added first.

    Attributes:
        clocks: the readings of the measured clock.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self.clocks = Clocks(room)
        self._usual = UsualLines()
        # The run of the file that is being read; -1 before its head.
        self._run = -1
        self._runs: list[Run] = []
        self._sessions: dict[tuple[int, str, str], Inferences] = {}
        self._lost = 0

    def add(self, source: Source) -> None:
        """Add a file.

        Raises:
            TraceError: an event has an error, or the recording is of another version.
        """
        self._run = -1
        for event in events(source, take_lines=self._take_lines):
            name = event.get("name")
            if name == "inference" and event.get("ph") == "X":
                self._inference(event, source)
            elif name == "htppower" and event.get("ph") == "M":
                _check_version(_told(event), source)
                self._run = self._run_number(_run(event))
            elif name == "clock":
                self.clocks.add(event)
            elif name == "lost":
                self._lost += _lost(_told(event))

    def _run_number(self, run: Run) -> int:
        """Return the number of a file's run: the last run, if the file continues it."""
        if self._runs and self._runs[-1].goes_on_as(run):
            self._runs[-1] = run
        else:
            self._runs.append(run)
        return len(self._runs) - 1

    def _inference(self, event: dict[str, Any], source: Source) -> None:
        told = _told(event)
        begin_us, end_us = span_us(event.get("ts"), event.get("dur"), ("ts", "dur"), source)
        found = self._session(str(event.get("tid")), told.get("session"))
        profile = told.get("profile")
        if isinstance(profile, str):
            found.used(profile)
        found.add(begin_us, end_us, cold=_cold(told))

    def _session(self, number: str, owner: object) -> Inferences:
        key = (self._run, number, str(owner))
        found = self._sessions.get(key)
        if found is None:
            # A session without an owner is named after its number.
            name = f"session {number}" if not isinstance(owner, str) or owner in ("", number) else owner
            found = self._sessions[key] = Inferences(name, self._room)
        return found

    def _take_lines(self, batch: bytes) -> int:
        """Read the inferences of whole lines, and return how many; return 0 if one of the lines has another form."""
        rest, clocks = without_clocks(batch)
        lines = self._usual.read(rest) if rest else NO_LINES
        if lines is None or clocks is None:
            return 0
        for event in clocks:
            self.clocks.add(event)
        for kind, (number, told) in enumerate(lines.different):
            those = np.flatnonzero(lines.kinds == kind)
            found = self._session(str(number), told.get("session"))
            profile = told.get("profile")
            if isinstance(profile, str):
                found.used(profile, those.size)
            found.extend(lines.begins_us[those], lines.ends_us[those], cold=_cold(told))
        return lines.kinds.size + len(clocks)

    def finish(self, source: Source) -> list[Inferences]:
        """Return the sessions, in the order of their first ended inferences."""
        if self._lost:
            were = "was" if self._lost == 1 else "were"
            source.notes.append(
                f"{counted(self._lost, 'inference')} {were} lost during the recording: too many waited to be written"
            )
        if len(self._runs) > 1:
            source.notes.append(f"it has {len(self._runs)} runs, each with its own clock")
        return list(self._sessions.values())


def _told(event: dict[str, Any]) -> dict[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _cold(told: dict[str, Any]) -> bool | None:
    cold = told.get("cold")
    return cold if isinstance(cold, bool) else None


def _check_version(told: dict[str, Any], source: Source) -> None:
    version = told.get("version")
    if version != VERSION:
        raise source.wrong(f"is of version {version!r}, not {VERSION}", "read it with the htppower that recorded it")


def _lost(told: dict[str, Any]) -> int:
    count = told.get("inferences")
    return count if isinstance(count, int) and 0 < count <= LONGEST_US else 0

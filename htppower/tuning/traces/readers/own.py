"""The trace that htppower records: a line for the recording, then one for each inference.

``tid`` is the number of the session; ``ts`` and ``dur`` are whole us of the controller's clock; ``cold`` says whether
the inference waited for a call when it began.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from htppower.tuning.traces.collected import Inferences, span_us
from htppower.tuning.traces.readers.chrome_events import events

if TYPE_CHECKING:
    from htppower.tuning.traces.readers.source import Source

VERSION = 1
_HEADER = re.compile(rb'^\s*\[?\s*\{[^{}]*"name"\s*:\s*"htppower"\s*,\s*"ph"\s*:\s*"M"')


def is_own(head: bytes) -> bool:
    """Return whether a file begins so."""
    return _HEADER.search(head) is not None


class Recording:
    """What the files of one recording hold; the older ones are added first."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str, str, int], Inferences] = {}
        self._lost = 0

    def add(self, source: Source) -> None:
        """Add a file.

        Raises:
            TraceError: an event is wrong, or the recording is of a newer version.
        """
        begun = 0
        for event in events(source):
            name = event.get("name")
            args = event.get("args")
            told = args if isinstance(args, dict) else {}
            if name == "inference" and event.get("ph") == "X":
                self._inference(event, told, begun, source)
            elif name == "htppower" and event.get("ph") == "M":
                begun += 1
                _check_version(told, source)
            elif name == "lost":
                self._lost += _lost(told)

    def _inference(self, event: dict[str, Any], told: dict[str, Any], begun: int, source: Source) -> None:
        begin_us, end_us = span_us(event.get("ts"), event.get("dur"), ("ts", "dur"), source)
        number, owner = event.get("tid"), told.get("session")
        # Each recording in a file has a clock of its own, and so has each process.
        key = (str(event.get("pid")), str(number), str(owner), max(begun, 1))
        found = self._sessions.get(key)
        if found is None:
            name = owner if isinstance(owner, str) and owner else f"session {number}"
            found = self._sessions[key] = Inferences(name)
        profile, cold = told.get("profile"), told.get("cold")
        if isinstance(profile, str):
            found.profiles[profile] += 1
        found.add(begin_us, end_us, cold=cold if isinstance(cold, bool) else None)

    def finish(self, source: Source) -> list[Inferences]:
        """Return the sessions, in the order in which they first ended an inference."""
        if self._lost:
            source.notes.append(f"{self._lost} inferences were lost while it was recorded: the writer lagged behind")
        return list(self._sessions.values())


def _check_version(told: dict[str, Any], source: Source) -> None:
    version = told.get("version")
    if version != VERSION:
        raise source.wrong(f"is of version {version!r}, not {VERSION}", "read it with the htppower that recorded it")


def _lost(told: dict[str, Any]) -> int:
    counts = (told.get(key) for key in ("inferences", "count", "lost"))
    return next((count for count in counts if isinstance(count, int) and count > 0), 1)

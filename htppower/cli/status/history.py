"""What a watched session did of late, as a strip: how much of each second it was raised."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any

from htppower.control.status.process_identity import Life

if TYPE_CHECKING:
    from htppower.cli.status.document import Seen

# From nothing to all of a second; for terminals that lack the first, the second.
_BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_PLAIN = " .:-=+*#@"
_UNKNOWN = "\u00b7"
_PLAIN_UNKNOWN = "?"
_COLUMN_US = 1_000_000
COLUMNS = 40
# A narrow terminal has fewer: what stands beside a strip, its label and its length, takes this much.
_BESIDE = len("  timeline   || last 40 s")

# The file of a controller, and the number of a session.
Key = tuple[str, int]


def now_of(view: Seen) -> int:
    """Return the controller's clock now, as far as it goes on: not of a process that is gone or has closed it."""
    time_us: int = view.document["time_us"]
    return time_us if view.process is Life.GONE or view.document["closed"] else time_us + view.age_us


class Histories:
    """The watched sessions, each by how long it had been raised at each writing of its status."""

    def __init__(self) -> None:
        self._seen: dict[Key, deque[tuple[int, int]]] = {}

    def see(self, path: str, view: Seen) -> None:
        """Note how long each session of a status had been raised when it was written."""
        for session in view.document["sessions"]:
            key = (path, session["number"])
            self._note(key, view.document["time_us"], session["time_in_state_us"].get("RAISED", 0))

    def strip(self, key: Key, now_us: int, width: int = COLUMNS + _BESIDE) -> str:
        """Return a strip that ends now, a column a second; before the first writing and after the last a dot.

        With its label it fits a terminal of this width.
        """
        most = min(COLUMNS, width - _BESIDE)
        samples = self._seen.get(key)
        blocks, unknown = _letters()
        columns = []
        for number in range(most, 0, -1):
            begin_us, end_us = now_us - number * _COLUMN_US, now_us - (number - 1) * _COLUMN_US
            share = None if samples is None else _share(samples, begin_us, end_us)
            columns.append(unknown if share is None else blocks[round(share * (len(blocks) - 1))])
        return f"|{''.join(columns)}| last {most} s"

    def _note(self, key: Key, time_us: int, raised_us: int) -> None:
        samples = self._seen.setdefault(key, deque())
        if samples and time_us == samples[-1][0]:
            return
        if samples and (time_us < samples[-1][0] or raised_us < samples[-1][1]):
            samples.clear()  # another controller has taken the file
        samples.append((time_us, raised_us))
        while len(samples) > 1 and samples[1][0] < time_us - (COLUMNS + 1) * _COLUMN_US:
            samples.popleft()


def _share(samples: deque[tuple[int, int]], begin_us: int, end_us: int) -> float | None:
    """Return for how much of the known part of a time a session was raised; None where none of it is known."""
    begin_us, end_us = max(begin_us, samples[0][0]), min(end_us, samples[-1][0])
    if end_us <= begin_us:
        return None
    return min(1.0, (_raised_at(samples, end_us) - _raised_at(samples, begin_us)) / (end_us - begin_us))


def _raised_at(samples: deque[tuple[int, int]], time_us: int) -> float:
    """Return how long a session had been raised at a time, between two writings in proportion."""
    before_us, before_raised_us = samples[0]
    for after_us, after_raised_us in samples:
        if after_us >= time_us:
            part = (time_us - before_us) / (after_us - before_us) if after_us > before_us else 1.0
            return before_raised_us + part * (after_raised_us - before_raised_us)
        before_us, before_raised_us = after_us, after_raised_us
    return before_raised_us


def _letters() -> tuple[str, str]:
    encoding: Any = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        (_BLOCKS + _UNKNOWN).encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return _PLAIN, _PLAIN_UNKNOWN
    return _BLOCKS, _UNKNOWN

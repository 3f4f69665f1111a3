"""The recent past of watched sessions: how much of each second they were raised, and how many inferences they had."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.status.process_identity import Life

if TYPE_CHECKING:
    from htppower.tools.cli.status.document import Seen

# From nothing to a whole second. Terminals that lack the first use the second.
_BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_PLAIN = " .:-=+*#@"
_UNKNOWN = "\u00b7"
_PLAIN_UNKNOWN = "?"
_COLUMN_US = 1_000_000
COLUMNS = 40
# The width of the label and the length of a strip. A narrow terminal has fewer columns in the strip.
_BESIDE = len("  timeline   || last 40 s")
# A rate covers at most this time, so that it includes several writes of a host that writes once a second.
_RATE_US = 5_000_000

# The file of a controller, and the number of a session.
Key = tuple[str, int]


@attrs.frozen
class Sample:
    """The counts of a session when its status was written. Files of older versions have no inferences."""

    time_us: int
    raised_us: int
    inferences: int = 0
    cold_starts: int = 0
    wait_us: int = 0


@attrs.frozen
class Rate:
    """The recent rate of a session.

    Attributes:
        each_s: how many inferences began per second.
        cold: the share of them that waited for a call; None without inferences.
        wait_us: how long these waited on average; None if none waited.
    """

    each_s: float
    cold: float | None
    wait_us: int | None


def now_of(view: Seen) -> int:
    """Return the controller's present clock. It has stopped if the process is gone or has closed the controller."""
    time_us: int = view.document["time_us"]
    return time_us if view.process is Life.GONE or view.document["closed"] else time_us + view.age_us


class Histories:
    """The watched sessions, each with its counts at each write of its status."""

    def __init__(self) -> None:
        self._seen: dict[Key, deque[Sample]] = {}
        self._voteless: set[Key] = set()
        # Until when the last write of a file is true, if it still is.
        self._holds_us: dict[str, int] = {}

    def see(self, path: str, view: Seen) -> None:
        """Note the counts of each session in a status."""
        self._holds_us.pop(path, None)
        if view.holds:
            self._holds_us[path] = now_of(view)
        for session in view.document["sessions"]:
            key = (path, session["number"])
            (self._voteless.add if session.get("power_config_ids") == [] else self._voteless.discard)(key)
            cold = session.get("cold_starts") or {"count": 0, "wait_us": 0}
            raised_us = session["time_in_state_us"].get("RAISED", 0)
            counts = session.get("inferences", 0), cold["count"], cold["wait_us"]
            self._note(key, Sample(view.document["time_us"], raised_us, *counts))

    def strip(self, key: Key, now_us: int, width: int = COLUMNS + _BESIDE) -> str:
        """Return a strip that ends now, with a column for each second. An unknown second is a dot.

        Seconds before the first write are unknown, and so are seconds after the last one unless that is still true.
        With its label the strip fits a terminal of this width.
        """
        most = min(COLUMNS, width - _BESIDE)
        samples = self._samples(key)
        blocks, unknown = _letters()
        columns = []
        for number in range(most, 0, -1):
            begin_us, end_us = now_us - number * _COLUMN_US, now_us - (number - 1) * _COLUMN_US
            share = _share(samples, begin_us, end_us) if samples else None
            columns.append(unknown if share is None else blocks[round(share * (len(blocks) - 1))])
        return f"|{''.join(columns)}| last {most} s"

    def rate(self, key: Key) -> Rate | None:
        """Return the rate of a session in the last seconds; None until there are two writes to compare.

        It is also None for a session without votes: its inferences do not cause a write of the file.
        """
        if key in self._voteless:
            return None
        samples = self._samples(key)
        if len(samples) < 2:  # noqa: PLR2004 - two samples make a rate
            return None
        last = samples[-1]
        first = next(each for each in samples if each.time_us >= last.time_us - _RATE_US or each is samples[-2])
        begun, cold = last.inferences - first.inferences, last.cold_starts - first.cold_starts
        return Rate(
            begun / ((last.time_us - first.time_us) / 1_000_000),
            cold / begun if begun > 0 else None,
            (last.wait_us - first.wait_us) // cold if cold > 0 else None,
        )

    def _samples(self, key: Key) -> list[Sample]:
        """Return the samples of a session, with a present one if the last is still true."""
        samples = list(self._seen.get(key, ()))
        holds_us = self._holds_us.get(key[0])
        if samples and holds_us is not None and holds_us > samples[-1].time_us:
            samples.append(attrs.evolve(samples[-1], time_us=holds_us))
        return samples

    def _note(self, key: Key, sample: Sample) -> None:
        samples = self._seen.setdefault(key, deque())
        if samples and sample.time_us == samples[-1].time_us:
            return
        if samples and (sample.time_us < samples[-1].time_us or sample.raised_us < samples[-1].raised_us):
            samples.clear()  # another controller uses the file now
        samples.append(sample)
        while len(samples) > 1 and samples[1].time_us < sample.time_us - (COLUMNS + 1) * _COLUMN_US:
            samples.popleft()


def _share(samples: list[Sample], begin_us: int, end_us: int) -> float | None:
    """Return the share of the known part of a time that a session was raised; None if no part is known."""
    begin_us, end_us = max(begin_us, samples[0].time_us), min(end_us, samples[-1].time_us)
    if end_us <= begin_us:
        return None
    return min(1.0, (_raised_at(samples, end_us) - _raised_at(samples, begin_us)) / (end_us - begin_us))


def _raised_at(samples: list[Sample], time_us: int) -> float:
    """Return the raised time of a session up to a time, interpolated between two writes."""
    before = samples[0]
    for after in samples:
        if after.time_us >= time_us:
            part = (time_us - before.time_us) / (after.time_us - before.time_us) if after is not before else 1.0
            return before.raised_us + part * (after.raised_us - before.raised_us)
        before = after
    return before.raised_us


def _letters() -> tuple[str, str]:
    encoding: Any = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        (_BLOCKS + _UNKNOWN).encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return _PLAIN, _PLAIN_UNKNOWN
    return _BLOCKS, _UNKNOWN

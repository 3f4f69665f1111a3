"""Collects the inferences that a reader finds, and makes sessions of them."""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.readers.limits import SESSION_ROOM
from htppower.tools.report.words import counted
from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.readers.limits import Room
    from htppower.tools.tuning.traces.readers.source import Source

# 285 years: up to here, a float can represent every us.
LONGEST_US = 2**53
_UNKNOWN = 2
_WAS = ("was", "were")


class Inferences:
    """The inferences of one session, in any order.

    Attributes:
        name: the name of the session.
        profiles: how many inferences used each profile.
    """

    def __init__(self, name: str, room: Room) -> None:
        self.name = name
        self._room = room
        room.take(SESSION_ROOM)
        self.profiles: Counter[str] = Counter()
        self._begins = array("q")
        self._ends = array("q")
        self._cold = bytearray()

    def __len__(self) -> int:
        return len(self._begins)

    @property
    def total_us(self) -> int:
        """How long all inferences took together."""
        return sum(self._ends) - sum(self._begins)

    def add(self, begin_us: int, end_us: int, *, cold: bool | None = None) -> None:
        """Add an inference; ``cold`` is whether it waited for a raise, None if not known.

        Raises:
            TooMuch: there are more inferences than the limit.
        """
        self._room.left -= 1
        if self._room.left < 0:
            self._room.refuse()
        self._begins.append(begin_us)
        self._ends.append(end_us)
        self._cold.append(_UNKNOWN if cold is None else cold)

    def extend(self, begins_us: NDArray[np.int64], ends_us: NDArray[np.int64], *, cold: bool | None = None) -> None:
        """Add inferences with the same value of ``cold``.

        Raises:
            TooMuch: there are more inferences than the limit.
        """
        self._room.take(begins_us.size)
        self._begins.frombytes(begins_us.tobytes())
        self._ends.frombytes(ends_us.tobytes())
        self._cold += bytes((_UNKNOWN if cold is None else cold,)) * begins_us.size

    def used(self, profile: str, times: int = 1) -> None:
        """Note that inferences used a profile."""
        if profile not in self.profiles:
            self._room.take(SESSION_ROOM)
        self.profiles[profile] += times

    def session(self, name: str | None = None) -> SessionTrace:
        """Return the inferences, sorted by their begin; none may be added afterwards."""
        # Most traces are sorted already, and their arrays are not copied: a copy would double the memory.
        begins_us, ends_us = (np.frombuffer(each, dtype=np.int64) for each in (self._begins, self._ends))
        cold = np.frombuffer(self._cold, dtype=np.uint8)
        later = begins_us[1:] > begins_us[:-1]
        later |= (begins_us[1:] == begins_us[:-1]) & (ends_us[1:] >= ends_us[:-1])
        if not later.all():
            order = np.lexsort((ends_us, begins_us))
            begins_us, ends_us, cold = begins_us[order], ends_us[order], cold[order]
        told = bool(cold.size) and not (cold == _UNKNOWN).any()
        return SessionTrace(
            self.name if name is None else name,
            self.profiles.most_common(1)[0][0] if self.profiles else None,
            begins_us,
            ends_us,
            cold.astype(np.bool_) if told else None,
        )

    def notes(self) -> list[str]:
        """Return notes on what the trace leaves open about the session."""
        said = []
        if len(self.profiles) > 1:
            used = ", ".join(f"{name} ({count})" for name, count in self.profiles.most_common())
            said.append(f"{self.name} used several profiles, {used}; the first is used for all")
        known = len(self._cold) - self._cold.count(_UNKNOWN)
        if 0 < known < len(self._cold):
            said.append(f"{self.name}: only {known} of {len(self)} inferences state whether they waited for a raise")
        return said


def whole_us(value: object, what: str, source: Source) -> int:
    """Return a time as whole microseconds, rounded to the nearest.

    Raises:
        TraceError: the value is not a number, is negative, or is longer than 285 years.
    """
    if type(value) is int:
        if 0 <= value <= LONGEST_US:
            return value
    elif type(value) is float:
        if 0 <= value <= LONGEST_US:
            return int(value + 0.5)
    elif value is None:
        raise source.wrong(f"{what} is missing", "every inference needs its times")
    raise source.wrong(f"{what} is {str(value)[:40]!r}", "a time is a number of us since any start: 0 or more")


def span_us(begin: object, duration: object, what: tuple[str, str], source: Source) -> tuple[int, int]:
    """Return begin and end as whole microseconds.

    Each is rounded by itself, so that spans which touch still touch after rounding.

    Raises:
        TraceError: one of the values is not a time, or the duration is negative.
    """
    if type(begin) is int and type(duration) is int and min(begin, duration) >= 0 and begin + duration <= LONGEST_US:
        return begin, begin + duration
    begin_us = whole_us(begin, what[0], source)
    whole_us(duration, what[1], source)
    return begin_us, whole_us(begin + duration, what[1], source)  # type: ignore[operator] # both are numbers


def left_out(count: int, what: str, does: tuple[str, str], why: str) -> list[str]:
    """Return a note about left-out items: ``2 events have no end, and were left out``; nothing if the count is 0."""
    if not count:
        return []
    several = count > 1
    return [f"{counted(count, what)} {does[several]} {why}, and {_WAS[several]} left out"]


def named_apart(sessions: list[Inferences]) -> list[str]:
    """Return the names of sessions, with a number after each name that several sessions share."""
    names = Counter(each.name for each in sessions)
    taken = set(names)
    numbers = {name: itertools.count(1) for name, count in names.items() if count > 1}
    told = []
    for each in sessions:
        name = each.name
        if each.name in numbers:
            numbered = (f"{each.name} ({number})" for number in numbers[each.name])
            name = next(name for name in numbered if name not in taken)
        taken.add(name)
        told.append(name)
    return told

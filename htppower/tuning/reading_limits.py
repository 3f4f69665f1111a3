"""Limits on what is read from a file, so that no file fills the memory; ``HTPPOWER_READ_MORE`` raises them all.

Honest recordings and profiles stay far below them. With them, reading a file of 50 MB, packed or not, takes less than
1 GB of memory.
"""

from __future__ import annotations

import math
import os

from htppower.errors import HtpPowerError

VARIABLE = "HTPPOWER_READ_MORE"
_MOST_TIMES = 1_000_000
# Packed traces reach 10 to 40 times their size; only a file made for it reaches 1000.
UNPACKED_TIMES = 100
# Any packed file may unpack to this size, however small it is.
UNPACKED_FREE_BYTES = 4 * 2**20
# An inference takes 17 bytes while it is read, and some 40 while it is described.
INFERENCES = 15_000_000
# Counted as inferences: a session, and a pair that still lacks its begin or its end.
SESSION_ROOM = 100
BEGUN_ROOM = 20
# Numbers of a profiler, of 8 to 32 bytes each, and the room of a graph among them.
MEASURED = 10_000_000
GRAPH_ROOM = 200
# A line of a profiler's text takes some us to read, also if it says nothing.
LINES = 5_000_000
# A value of JSON takes up to 90 bytes.
JSON_VALUES = 5_000_000
JSON_BYTES = 192 * 2**20
# A text with one letter beyond ASCII may take four bytes for each letter.
WIDE_JSON_BYTES = 48 * 2**20


class TooMuch(HtpPowerError):  # noqa: N818 - reads as what it is
    """A file holds more than is read.

    Attributes:
        message: what it holds, and the limit.
        hint: how to raise the limit.
    """

    def __init__(self, message: str) -> None:
        self.message = message
        self.hint = (
            f"if you trust the file, set {VARIABLE}=10 to read ten times as much; it may take ten times the memory"
        )
        super().__init__(f"{message} ({self.hint})")


def raised(limit: int) -> int:
    """Return a limit as the environment raises it.

    Raises:
        HtpPowerError: the variable is not a number from 1 to a million.
    """
    said = os.environ.get(VARIABLE, "")
    try:
        times = float(said) if said else 1.0
    except ValueError:
        times = math.nan
    if not 1 <= times <= _MOST_TIMES:
        raise HtpPowerError(f"{VARIABLE} is {said!r}: set it to how many times as much is read, 1 to {_MOST_TIMES}")
    return int(limit * times)


class Room:
    """Counts how much more of something may be read.

    Attributes:
        left: so much. A caller that subtracts from it itself calls ``refuse`` if the result is below 0.
    """

    def __init__(self, limit: int, what: str) -> None:
        self._limit = raised(limit)
        self._what = what
        self.left = self._limit

    def take(self, count: int) -> None:
        """Take some away.

        Raises:
            TooMuch: there is less.
        """
        self.left -= count
        if self.left < 0:
            self.refuse()

    def refuse(self) -> None:
        """Raise the error of a file that holds more."""
        raise TooMuch(f"holds more than {self._limit} {self._what}")


def check_json(content: bytes | bytearray, most_bytes: int = JSON_BYTES) -> None:
    """Refuse JSON that would take too much memory: before it is parsed, by its size and by how many values it has.

    Raises:
        TooMuch: it is larger, or holds more values.
    """
    most = raised(most_bytes if content.isascii() else min(most_bytes, WIDE_JSON_BYTES))
    if len(content) > most:
        kind = "" if content.isascii() else " of text that is not all ASCII"
        raise TooMuch(f"is larger than {most // 2**20} MiB{kind}")
    values = raised(JSON_VALUES)
    # A text may hold these letters, too: so it counts too many, never too few.
    if sum(content.count(mark) for mark in (b"[", b"{", b",", b":")) > values:
        raise TooMuch(f"holds more than {values} values")

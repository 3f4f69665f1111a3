"""Limits on how much is read from a file, so that no file fills the memory; ``HTPPOWER_READ_MORE`` raises them all.

Ordinary recordings and profiles stay far below the limits. They keep the reading of a 50 MB file, packed or not, below
1 GB of memory.
"""

from __future__ import annotations

import math
import os

from htppower.errors import HtpPowerError

VARIABLE = "HTPPOWER_READ_MORE"
_MOST_TIMES = 1_000_000
# Packed traces unpack to 10 to 40 times their size; only a malicious file reaches 1000 times.
UNPACKED_TIMES = 100
# Any packed file may unpack to this size, however small it is.
UNPACKED_FREE_BYTES = 4 * 2**20
# An inference takes 17 bytes while it is read, and some 40 while it is described.
INFERENCES = 15_000_000
# How many inferences a session counts as, and an inference that still lacks its begin or its end.
SESSION_ROOM = 100
BEGUN_ROOM = 20
# How many numbers of a profiler are read, of 8 to 32 bytes each; and how many of them a graph counts as.
MEASURED = 10_000_000
GRAPH_ROOM = 200
# Reading a line of a profiler's text takes a few us, even if the line holds no number.
LINES = 5_000_000
# A value of JSON takes up to 90 bytes.
JSON_VALUES = 5_000_000
JSON_BYTES = 192 * 2**20
# A text with one letter beyond ASCII may take four bytes for each letter.
WIDE_JSON_BYTES = 48 * 2**20


class TooMuch(HtpPowerError):  # noqa: N818 - reads as what it is
    """A file exceeds a limit on reading.

    Attributes:
        message: the content that exceeds the limit, and the limit.
        hint: how to raise the limit.
    """

    def __init__(self, message: str) -> None:
        self.message = message
        self.hint = (
            f"if you trust the file, set {VARIABLE}=10 to read ten times as much; it may take ten times the memory"
        )
        super().__init__(f"{message} ({self.hint})")


def raised(limit: int) -> int:
    """Return a limit, raised by the environment variable if it is set.

    Raises:
        HtpPowerError: the variable is not a number from 1 to a million.
    """
    said = os.environ.get(VARIABLE, "")
    try:
        times = float(said) if said else 1.0
    except ValueError:
        times = math.nan
    if not 1 <= times <= _MOST_TIMES:
        raise HtpPowerError(f"{VARIABLE} is {said!r}: set it to a factor for the limits on reading, 1 to {_MOST_TIMES}")
    return int(limit * times)


class Room:
    """Counts how much more of something may be read.

    Attributes:
        left: how much may still be read. A caller may subtract from it directly, and calls ``refuse`` if the result is
            below 0.
    """

    def __init__(self, limit: int, what: str) -> None:
        self._limit = raised(limit)
        self._what = what
        self.left = self._limit

    def take(self, count: int) -> None:
        """Subtract a count from ``left``.

        Raises:
            TooMuch: ``left`` is less than the count.
        """
        self.left -= count
        if self.left < 0:
            self.refuse()

    def refuse(self) -> None:
        """Raise the error of a file that exceeds the limit."""
        raise TooMuch(f"holds more than {self._limit} {self._what}")


def check_json(content: bytes | bytearray, most_bytes: int = JSON_BYTES) -> None:
    """Refuse JSON that would take too much memory, before it is parsed. Its size and its number of values count.

    Raises:
        TooMuch: the size or the number of values exceeds its limit.
    """
    most = raised(most_bytes if content.isascii() else min(most_bytes, WIDE_JSON_BYTES))
    if len(content) > most:
        kind = "" if content.isascii() else " of text that is not all ASCII"
        raise TooMuch(f"is larger than {most // 2**20} MiB{kind}")
    values = raised(JSON_VALUES)
    # Strings may hold these characters, too, so the count may be too high, but never too low.
    if sum(content.count(mark) for mark in (b"[", b"{", b",", b":")) > values:
        raise TooMuch(f"holds more than {values} values")

"""Reads the usual lines of a recording, many at a time.

A recording has a line for each inference::

    {"name":"inference","ph":"X","pid":71,"tid":1,"ts":1000,"dur":800,"args":{"session":"camera","profile":"burst",...}},

If each digit is replaced by 0, few lines differ. So the shape of a line is looked up as a whole, and numpy reads the
numbers of all lines at once. If a line has another form, the caller reads the lines one by one with ``json``, which
takes several times as long.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from htppower.tools.tuning.traces.collected import LONGEST_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

_USUAL = re.compile(
    rb'\{"name":"inference","ph":"X","pid":0{1,18},"tid":0{1,18},"ts":0{1,18},"dur":0{1,18},"args":(\{.*\})\},'
)
_NUMBERS = re.compile(rb"0+")
# More digits do not fit into 64 bits.
_MOST_DIGITS = 18
_DIGITS = b"0123456789"
_TO_ZEROS = bytes.maketrans(_DIGITS, b"0" * 10)
_TO_SPACES = bytes(byte if byte in _DIGITS else 32 for byte in range(256))
# If no name has a number, commas and line ends separate all numbers. Without the other bytes, numbers are read faster.
_NOT_BETWEEN = bytes(byte for byte in range(256) if byte not in _DIGITS + b",\n")
# pid, tid, ts and dur. Any numbers after them are parts of names.
_TIMES = 4
_MOST_SHAPES = 10_000
_UNUSUAL = -1


class Lines(NamedTuple):
    """Inferences, by line.

    Attributes:
        begins_us, ends_us: when the inferences began and ended.
        kinds: the index of each inference in ``different``.
        different: pairs of the session's number and ``args``, in the order of the lines; a pair may be repeated.
    """

    begins_us: NDArray[np.int64]
    ends_us: NDArray[np.int64]
    kinds: NDArray[np.intp]
    different: list[tuple[int, dict[str, Any]]]


NO_LINES = Lines(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.intp), [])


class _Shapes(dict[bytes, int]):
    """The number of each shape of a line.

    Attributes:
        counts: how many numbers a line of each shape has.
    """

    def __init__(self) -> None:
        self.counts: list[int] = []

    def __missing__(self, shape: bytes) -> int:
        usual = _USUAL.fullmatch(shape)
        numbers = _NUMBERS.findall(shape)
        if usual is None or len(self) >= _MOST_SHAPES or max(map(len, numbers)) > _MOST_DIGITS:
            return _UNUSUAL
        self[shape] = len(self)
        self.counts.append(len(numbers))
        return self[shape]


class UsualLines:
    """Reads batches of lines."""

    def __init__(self) -> None:
        self._shapes = _Shapes()
        # By the number of the shape and the numbers in the names.
        self._args: dict[tuple[int, ...], dict[str, Any]] = {}

    def read(self, batch: bytes) -> Lines | None:
        """Return the inferences of whole lines; None if a line has another form."""
        shapes = batch.translate(_TO_ZEROS).split(b"\n")
        if shapes.pop():
            return None
        kinds = np.fromiter(map(self._shapes.__getitem__, shapes), np.int64, len(shapes))
        if kinds.min() == _UNUSUAL:
            return None
        counts = np.array(self._shapes.counts)[kinds]
        delete = _NOT_BETWEEN if counts.max() == _TIMES else b""
        numbers = np.fromstring(batch.translate(_TO_SPACES, delete), dtype=np.int64, sep=" ")
        firsts = np.cumsum(counts) - counts
        begins_us, durations_us = numbers[firsts + 2], numbers[firsts + 3]
        if max(begins_us.max(), durations_us.max()) > LONGEST_US:
            return None
        ends_us = begins_us + durations_us
        if ends_us.max() > LONGEST_US:
            return None
        # If a line has fewer numbers in its names, 0 fills the place; lines with that many have another shape.
        in_names = [
            np.where(place < counts, numbers.take(firsts + place, mode="clip"), 0)
            for place in range(_TIMES, int(counts.max()))
        ]
        alike, first = _alike([kinds, numbers[firsts + 1], *in_names])
        different = []
        for line in first.tolist():
            args = self._args_of(batch, shapes, line, (int(kinds[line]), *(int(each[line]) for each in in_names)))
            if args is None:
                return None
            different.append((int(numbers[firsts[line] + 1]), args))
        return Lines(begins_us, ends_us, alike, different)

    def _args_of(self, batch: bytes, shapes: list[bytes], line: int, key: tuple[int, ...]) -> dict[str, Any] | None:
        """Return the ``args`` of a line, which are the same for all lines with this key; None if they are not JSON."""
        args = self._args.get(key)
        if args is None and len(self._args) < _MOST_SHAPES:
            begin = sum(map(len, shapes[:line])) + line
            usual = _USUAL.fullmatch(shapes[line])
            try:
                args = json.loads(batch[begin + usual.start(1) : begin + usual.end(1)])  # type: ignore[union-attr]
            except (ValueError, RecursionError):
                return None
            self._args[key] = args
        return args


def _alike(columns: list[NDArray[np.int64]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a kind for each row of a table, equal for equal rows; and the first row of each kind, in their order."""
    sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) < 2**63:
        # One number for each row, since single numbers are sorted several times as fast.
        table = columns[0]
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            table = table * size + column
    else:
        table = np.column_stack(columns)
    _, first, alike = np.unique(table, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[alike.reshape(-1)], first[order]

"""The time axis in px, with long idle stretches cut short.

An inference takes milliseconds and a sustain window seconds. On a linear axis the phases would be a pixel or two wide,
and a logarithmic axis would distort every duration. So the axis is linear, but stretches where nothing happens are
cut, with their duration next to the mark. A stretch is cut only if the rest would be too narrow for a name otherwise,
and if that gains room.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.tools.review.pictures.timeline import Timeline

# A stretch needs this width to carry a name.
_LEGIBLE_PX = 24
# A stretch is cut only if it is this many times as long as the longest that is not.
_MUCH_LONGER = 5
_MOST_BREAKS = 4
# A break is at most this wide, and at most this share of the stretch's width on an axis without breaks.
_BREAK_PX = 130
_BREAK_SHARE = 2 / 3
# The least width of a break that shows its duration.
_NARROWEST_BREAK_PX = 72
# The mark of a break is near its right end, so that a name has room before it.
_MARK_AT = 0.86
# The width of the mark.
MARK_PX = 18
_TICK_PX = 64
_UNITS = ((1_000_000, "s"), (1000, "ms"), (1, "us"))
# With fewer units, ticks would be fractions.
_FEWEST_UNITS = 10


@attrs.frozen
class Piece:
    """A linear stretch of the axis. A broken stretch is drawn too short, and shows its duration."""

    begin_us: int
    end_us: int
    left: float
    right: float
    broken: bool = False

    @property
    def mark(self) -> float:
        """The x of the mark of a break."""
        return self.left + _MARK_AT * (self.right - self.left)

    def x(self, time_us: int) -> float:
        """Return the x of a moment."""
        duration_us = self.end_us - self.begin_us
        share = (time_us - self.begin_us) / duration_us if duration_us else 0
        return self.left + share * (self.right - self.left)


@attrs.frozen
class TimeAxis:
    """The pieces of an axis, from left to right without a gap."""

    pieces: tuple[Piece, ...]

    @property
    def breaks(self) -> tuple[Piece, ...]:
        """The stretches that are cut short."""
        return tuple(piece for piece in self.pieces if piece.broken)

    @property
    def end_us(self) -> int:
        """The end of the axis."""
        return self.pieces[-1].end_us

    def x(self, time_us: int) -> float:
        """Return the x of a moment, in px."""
        piece = next((piece for piece in self.pieces if time_us <= piece.end_us), self.pieces[-1])
        return piece.x(time_us)

    def widest_room(self, left: float, right: float) -> tuple[float, float]:
        """Return the widest part of a stretch in px that no mark of a break divides, as room for a word."""
        marks = [cut.mark for cut in self.breaks if left < cut.mark < right]
        lefts = [left, *(mark + MARK_PX / 2 for mark in marks)]
        rights = [*(mark - MARK_PX / 2 for mark in marks), right]
        return max(zip(lefts, rights, strict=True), key=lambda room: room[1] - room[0])

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield x and label of round times, and of the start of a piece without a round time."""
        step_us = self._step_us()
        for piece in self.pieces:
            if piece.broken:
                continue
            first = -(-piece.begin_us // step_us) * step_us
            times = list(range(first, piece.end_us + 1, step_us)) or [piece.begin_us]
            for time_us in times:
                yield piece.x(time_us), spell_tick(time_us, self.end_us)

    def _step_us(self) -> int:
        linear = [piece for piece in self.pieces if not piece.broken and piece.right > piece.left]
        per_px = max(((piece.end_us - piece.begin_us) / (piece.right - piece.left) for piece in linear), default=1)
        return _round_up(max(1, math.ceil(per_px * _TICK_PX)))


def time_axis(timelines: Iterable[Timeline], left: float, right: float) -> TimeAxis:
    """Return one axis for some timelines, from left to right in px.

    A stretch is cut only if nothing begins, ends or is called in it in any of the timelines.
    """
    edges = sorted({0, *itertools.chain.from_iterable(map(_edges, timelines))})
    stretches = list(itertools.pairwise(edges)) or [(0, 1)]
    broken = _broken(stretches, right - left)
    linear_us = sum(end - begin for begin, end in stretches if (begin, end) not in broken)
    px_per_us = (right - left - sum(broken.values())) / linear_us if linear_us else 0
    pieces: list[Piece] = []
    x = left
    for is_broken, group in itertools.groupby(stretches, broken.__contains__):
        together = list(group)
        for begin_us, end_us in together if is_broken else [(together[0][0], together[-1][1])]:
            width = broken.get((begin_us, end_us), (end_us - begin_us) * px_per_us)
            pieces.append(Piece(begin_us, end_us, x, x + width, is_broken))
            x += width
    return TimeAxis(tuple(pieces))


def spell_tick(time_us: int, longest_us: int) -> str:
    """Return the label of a tick, in the largest unit that the longest time of its axis has ten of."""
    size, unit = next((size, unit) for size, unit in _UNITS if longest_us >= _FEWEST_UNITS * size or size == 1)
    number = f"{time_us / size:.6f}".rstrip("0").rstrip(".")
    return f"{number} {unit}"


def _edges(timeline: Timeline) -> Iterator[int]:
    yield timeline.end_us
    for span in (*timeline.phases, *timeline.windows):
        yield from (span.begin_us, span.end_us)
    for tick in timeline.ticks:
        yield tick.time_us


def _broken(stretches: list[tuple[int, int]], width: float) -> dict[tuple[int, int], float]:
    """Return the stretches to cut, with their widths in px.

    They are the longest few, if they leave too little room for the others, are much longer, and get narrower by the
    cut.
    """
    longest = sorted(stretches, key=lambda stretch: stretch[0] - stretch[1])
    durations = [end - begin for begin, end in longest]
    total_us = sum(durations)
    for count in range(min(_MOST_BREAKS, len(longest) - 1), 0, -1):
        shortest_us, next_us = durations[count - 1], durations[count]
        widths = [min(_BREAK_PX, _BREAK_SHARE * width * duration / total_us) for duration in durations[:count]]
        too_narrow = next_us * width < _LEGIBLE_PX * total_us
        if too_narrow and shortest_us >= _MUCH_LONGER * next_us and widths[-1] >= _NARROWEST_BREAK_PX:
            return dict(zip(longest, widths, strict=False))
    return {}


def _round_up(step_us: int) -> int:
    """Return the next number among 1, 2, 5, 10, 20, 50 and so on."""
    power = int("1" + "0" * (len(str(step_us)) - 1))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step_us)

"""Merges neighbours on the time axis that are too narrow to be drawn one by one.

A thousand inferences have a thousand bands and thousands of calls, and a picture is a thousand pixels wide.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from htppower.tools.review.dry_run.observer import PhaseSpan, Span, Window
    from htppower.tools.review.pictures.axis import TimeAxis
    from htppower.tools.review.pictures.timeline import Tick

T = TypeVar("T")


class Timed(Protocol):
    """Something that starts at a moment."""

    @property
    def time_us(self) -> int:
        """The moment."""


S = TypeVar("S", bound=Timed)

# These are merged: bands narrower than _BAND_PX with less than _GROUND_PX between them, steps narrower than _STEP_PX,
# and ticks closer than _TICKS_PX. Up to _MOST_APART ticks are drawn side by side.
_GROUND_PX = 2.5
_BAND_PX = 4
_STEP_PX = 2
_TICKS_PX = 11
_MOST_APART = 2


@attrs.frozen
class Band:
    """Spans of one name that are drawn as one rectangle."""

    left: float
    right: float
    name: str
    count: int
    duration_us: int


@attrs.frozen
class Stretch(Generic[S]):
    """Steps that are drawn as one: a single step, or many as one block."""

    left: float
    right: float
    steps: tuple[S, ...]


@attrs.frozen
class Cluster:
    """Ticks that are drawn side by side, or as one glyph if they are many."""

    left: float
    right: float
    ticks: tuple[Tick, ...]

    @property
    def many(self) -> bool:
        """Whether they are drawn as one glyph."""
        return len(self.ticks) > _MOST_APART


def phase_bands(phases: Sequence[PhaseSpan], axis: TimeAxis) -> list[Band]:
    """Return the bands of the phases."""
    return _bands([(span, str(span.phase)) for span in phases], axis)


def window_bands(windows: Sequence[Window], axis: TimeAxis, covered: Iterable[Band] = ()) -> list[Band]:
    """Return the bands of the windows, except those within a band of several phases."""
    many = [band for band in covered if band.count > 1]
    return [
        band
        for band in _bands([(window, window.name) for window in windows], axis)
        if not any(cover.left <= band.left and band.right <= cover.right for cover in many)
    ]


def stretches(steps: Sequence[S], axis: TimeAxis) -> list[Stretch[S]]:
    """Return the steps of a lane or a setting as they are drawn. The last step ends with the axis."""
    ends = [*(step.time_us for step in steps[1:]), axis.end_us]
    placed = [(axis.x(step.time_us), axis.x(end), step) for step, end in zip(steps, ends, strict=True)]
    groups: list[list[tuple[float, float, S]]] = []
    was_narrow = False
    for left, right, step in placed:
        # A step without width is a rise or a fall, and takes no room.
        narrow = 0 < right - left < _STEP_PX
        if narrow and was_narrow:
            groups[-1].append((left, right, step))
        else:
            groups.append([(left, right, step)])
        was_narrow = narrow
    return [Stretch(group[0][0], group[-1][1], tuple(step for _, _, step in group)) for group in groups]


def clusters(ticks: Sequence[Tick], axis: TimeAxis) -> list[Cluster]:
    """Return the ticks as they are drawn."""
    groups = _grouped(ticks, lambda tick: (axis.x(tick.time_us),) * 2, _TICKS_PX)
    return [Cluster(axis.x(group[0].time_us), axis.x(group[-1].time_us), tuple(group)) for group in groups]


def _bands(spans: Sequence[tuple[Span, str]], axis: TimeAxis) -> list[Band]:
    bands: list[Band] = []
    for group in _grouped(spans, lambda item: (axis.x(item[0].begin_us), axis.x(item[0].end_us)), _GROUND_PX):
        for name, same in itertools.groupby(group, key=lambda item: item[1]):
            run = [span for span, _ in same]
            begin_us, end_us = run[0].begin_us, run[-1].end_us
            bands.append(Band(axis.x(begin_us), axis.x(end_us), name, len(run), end_us - begin_us))
    return bands


def _grouped(items: Sequence[T], place: Callable[[T], tuple[float, float]], nearest_px: float) -> list[list[T]]:
    """Return the items in lists. Neighbours that are narrow and nearer than this are in the same list."""
    groups: list[list[T]] = []
    before = (0.0, 0.0)
    for item in items:
        left, right = place(item)
        narrow = max(right - left, before[1] - before[0]) < _BAND_PX
        if groups and narrow and left - before[1] < nearest_px:
            groups[-1].append(item)
        else:
            groups.append([item])
        before = (left, right)
    return groups

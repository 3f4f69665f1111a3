"""A chart with two axes as SVG: points, lines, bars and marks on a linear or a logarithmic scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.svg import element, path, svg, text, title, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Added to the style sheet of all pictures.
STYLE = """
.htp .point { fill: var(--faint); fill-opacity: .35; stroke: none; }
.htp .best-of { fill: var(--bus); stroke: none; }
.htp .line { fill: none; stroke: var(--bus); stroke-width: 1.8; stroke-linejoin: round; }
.htp .priced { fill: none; stroke: var(--sustain); stroke-width: 1.8; stroke-linejoin: round; }
.htp .other { fill: none; stroke: var(--faint); stroke-width: 1.4; stroke-dasharray: 5 4; }
.htp .burst { fill: var(--inference); fill-opacity: .13; stroke: none; }
.htp .busy { fill: var(--inference); stroke: none; }
.htp .gap-bar { fill: var(--bus); fill-opacity: .3; stroke: var(--bus); stroke-opacity: .8; }
.htp .gap-bar.within { fill: var(--inference); fill-opacity: .3; stroke: var(--inference); }
.htp .now { fill: var(--fail); stroke: var(--fail); }
.htp .advised { fill: var(--inference); stroke: var(--inference); }
.htp .limit { fill: none; stroke: var(--sustain); stroke-dasharray: 4 3; stroke-width: 1.4; }
.htp .said-now { fill: var(--fail); font-weight: 600; }
.htp .said-advised { fill: var(--inference); font-weight: 600; }
.htp .said-limit { fill: var(--sustain); font-weight: 600; }
"""
HEIGHT = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 92.0, 976.0, 28.0, 306.0
_TICKS = 6
_STEPS = (1, 2, 5, 10)
_RADIUS = 5.5
_SMALL = 2.2
_LABEL_PX = 14.0
# The distance of a word from the point that it names.
_BESIDE_PX = 9.0
# The size of words, the least distance between them, and the share of a word that is left of its place.
_WORD_PX, _APART_PX = 12.5, 8.0
_BAND_PX = 10.0
_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}


@attrs.frozen
class Scale:
    """A scale from the least to the most. Even on a logarithmic scale 0 has a place, at its begin.

    ``marks`` are the values that have a label; None: some round values.
    """

    least: float
    most: float
    logarithmic: bool
    spell: Callable[[float], str] = str
    marks: tuple[float, ...] | None = None

    @classmethod
    def of(cls, values: Iterable[float], spell: Callable[[float], str], *, logarithmic: bool) -> Scale:
        """Return a scale that holds these values; if there is none that it can show, a scale around 1."""
        found = [each for each in values if not logarithmic or each > 0] or [1.0]
        least, most = min(found), max(found)
        if logarithmic:
            return cls(least / 1.15, most * 1.15 if most > least else most * 2, True, spell)
        room = (most - least) * 0.06 or abs(most) * 0.1 or 1.0
        return cls(max(0.0, least - room) if least >= 0 else least - room, most + room, False, spell)

    def place(self, value: float) -> float:
        """Return the place of a value, from 0 to 1."""
        if self.logarithmic:
            if value <= self.least:
                return 0.0
            return math.log(value / self.least) / math.log(self.most / self.least)
        return (value - self.least) / (self.most - self.least)

    def ticks(self) -> list[float]:
        """Return the values on the scale that have a label."""
        if self.marks is not None:
            found = list(self.marks)
        elif self.logarithmic:
            first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
            powers = [10.0**power for power in range(first, last + 1)]
            decades = math.log10(self.most / self.least)
            factors = (1, 2, 3, 4, 5, 7) if decades < 1 else (1, 2, 5) if decades <= _TICKS / 2 else (1,)
            found = [factor * power for power in powers for factor in factors]
        else:
            rough = (self.most - self.least) / _TICKS
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(each * power for each in _STEPS if each * power >= rough * 0.999)
            first_step = math.ceil(self.least / step)
            found = [step * each for each in range(first_step, first_step + 2 * _TICKS)]
        return [each for each in found if self.least <= each <= self.most]


class Chart:
    """A chart that is drawn part by part.

    Args:
        across, up: the scales, each with its quantity.
        area: the top and the bottom of the chart in its picture, in px.
    """

    def __init__(
        self, across: tuple[str, Scale], up: tuple[str, Scale], area: tuple[float, float] = (_TOP, _BOTTOM)
    ) -> None:
        self._across_says, self._across = across
        self._up_says, self._up = up
        self._top, self._bottom = area
        self._parts: list[str] = []
        # Words are drawn over all else, and do not overlap each other.
        self._words: list[str] = []
        self._taken: list[tuple[float, float, float]] = []

    def points(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Add small points."""
        moves = [(self._x(x), self._y(y)) for x, y in points]
        dots = "".join(
            f"M{x - _SMALL:.1f},{y:.1f}a{_SMALL},{_SMALL} 0 1,0 {2 * _SMALL},0a{_SMALL},{_SMALL} 0 1,0 {-2 * _SMALL},0"
            for x, y in moves
        )
        if dots:
            self._parts.append(element("path", class_=kind, d=dots))

    def line(self, points: Sequence[tuple[float, float]], kind: str, *, steps: bool = False) -> None:
        """Add a line through points. With ``steps`` it goes across first, and then up or down."""
        moves: list[tuple[str, float, float]] = []
        for x, y in points:
            at = (self._x(x), self._y(y))
            if moves and steps:
                moves.append(("L", at[0], moves[-1][2]))
            moves.append(("L" if moves else "M", *at))
        if moves:
            self._parts.append(element("path", class_=kind, d=path(moves)))

    def bar(self, begin: float, end: float, height: float, kind: str, tip: str, said: str = "") -> None:
        """Add a bar between two places of the scale across, with a word above it if there is room."""
        left, right, top = self._x(begin), self._x(end), self._y(height)
        width = max(1.0, right - left - 1)
        place = {"x": left, "y": top, "width": width, "height": max(0.0, self._bottom - top)}
        self._parts.append(element("rect", title(tip), class_=kind, **place))
        if said and width_of(said, _BAND_PX) <= width:
            self._parts.append(text(left + width / 2, top - 3, said, "band", "middle"))

    def columns(self, heights: Sequence[float], kind: str, tip: str) -> None:
        """Add columns side by side, all equally wide, from the left end to the right end."""
        width = (_RIGHT - _LEFT) / len(heights)
        moves: list[tuple[str, float, float]] = []
        for place, height in enumerate(heights):
            if height:
                left, top = _LEFT + place * width, self._y(height)
                moves += [("M", left, self._bottom), ("L", left, top), ("L", left + width, top)]
                moves.append(("L", left + width, self._bottom))
        self._parts.append(element("path", title(tip), class_=kind, d=path(moves)))

    def mark(self, x: float, y: float, kind: str, said: str, tip: str) -> None:
        """Add a large point with a word next to it."""
        left, top = self._x(x), self._y(y)
        self._parts.append(element("circle", title(tip), class_=kind, cx=left, cy=top, r=_RADIUS))
        beyond = left + _BESIDE_PX + width_of(said, _WORD_PX) > _RIGHT
        self._say(left + (-_BESIDE_PX if beyond else _BESIDE_PX), top - 5, said, kind, "end" if beyond else "start")

    def across(self, x: float, kind: str, said: str) -> None:
        """Add a line from the bottom to the top with a word at its top."""
        left = self._x(x)
        self._parts.append(element("path", class_="limit", d=path([("M", left, self._top), ("L", left, self._bottom)])))
        anchor = "end" if left > (_LEFT + _RIGHT) * 0.75 else "start" if left < _LEFT + 60 else "middle"
        self._say(left, self._top - 6, said, kind, anchor)

    def svg(self, name: str, caption: str) -> str:
        """Return the picture of this chart alone.

        ``name`` begins the ids in it, so that a page can hold several; the caption is its content in a sentence.
        """
        return svg(name, self._across_says, caption, HEIGHT, self.drawn(), more_style=STYLE)

    def drawn(self) -> list[str]:
        """Return the parts of the chart, from the back to the front."""
        area = {"x": _LEFT, "y": self._top, "width": _RIGHT - _LEFT, "height": self._bottom - self._top}
        return [*self._axes(), element("rect", class_="frame", **area), *self._parts, *self._words]

    def _say(self, x: float, y: float, said: str, kind: str, anchor: str) -> None:
        width = width_of(said, _WORD_PX)
        left = x - width * _BEFORE[anchor]
        # Words that would touch are placed below each other.
        while any(
            abs(y - other_y) < _LABEL_PX and left < end + _APART_PX and begin < left + width + _APART_PX
            for begin, end, other_y in self._taken
        ):
            y += _LABEL_PX
        self._taken.append((left, left + width, y))
        self._words.append(text(x, y, said, f"said-{kind} on-lane", anchor))

    def _axes(self) -> Iterator[str]:
        free = 0.0
        for tick in self._across.ticks():
            x, said = self._x(tick), self._across.spell(tick)
            yield element("path", class_="grid", d=path([("M", x, self._top), ("L", x, self._bottom)]))
            half = width_of(said, _WORD_PX) / 2
            if x - half >= free:
                yield text(x, self._bottom + 16, said, "time", "middle")
                free = x + half
        ticks = self._up.ticks()
        for tick in ticks:
            y = self._y(tick)
            yield element("path", class_="grid", d=path([("M", _LEFT, y), ("L", _RIGHT, y)]))
            yield text(_LEFT - 8, y + 4, self._up.spell(tick), "time", "end")
        if self._across_says:
            yield text(_RIGHT, self._bottom + 36, self._across_says, "faint", "end")
        if ticks:
            yield text(16, self._top - 10, self._up_says, "faint")
        else:
            yield text(_LEFT - 8, (self._top + self._bottom) / 2 + 4, self._up_says, "voted", "end")

    def _x(self, value: float) -> float:
        return round(_LEFT + self._across.place(value) * (_RIGHT - _LEFT), 1)

    def _y(self, value: float) -> float:
        return round(self._bottom - self._up.place(value) * (self._bottom - self._top), 1)

"""Pictures of a comparison as SVG: the parts of both sides, how their runs are spread, and the runs in their order."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from htppower.tools.report.chart import HEIGHT, STYLE, Chart, Scale
from htppower.tools.report.svg import element, svg, text, title, width_of
from htppower.tools.report.words import percent, time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.compare.comparison import Comparison
    from htppower.tools.review.compare.difference import Difference
    from htppower.tools.review.compare.sample import Sample

# The parts from the host inwards; the colours are those of the other pictures.
_COLOURS = ("--prepare", "--sustain", "--hmx", "--core", "--bus", "--inference")
_LEFT, _RIGHT = 60.0, 970.0
_BAR_TOP, _BAR_PX, _BAR_STEP = 40.0, 34.0, 52.0
_KEY_PX, _KEY_STEP, _SQUARE = 11.0, 18.0, 10.0
# The line and the points of each side, and their colours.
_KINDS = {"A": ("line", "of-a"), "B": ("priced", "of-b")}
_STYLE = """
.htp .of-a { fill: var(--bus); stroke: none; }
.htp .of-b { fill: var(--sustain); stroke: none; }
.htp .said-of-a { fill: var(--bus); font-weight: 600; }
.htp .said-of-b { fill: var(--sustain); font-weight: 600; }
"""
# More points than this can't be told apart.
_MOST_POINTS = 1_000


def parts_picture(comparison: Comparison) -> str:
    """Return the parts of an inference of A and of B as two bars; empty if the parts are not known."""
    parts = [part for part in comparison.differences.parts if part.a_us == part.a_us]
    if not parts:
        return ""
    longest = max(sum(max(0.0, us) for us in column) for column in ([p.a_us for p in parts], [p.b_us for p in parts]))
    drawn: list[str] = []
    for row, label in enumerate("AB"):
        top = _BAR_TOP + row * _BAR_STEP
        drawn.append(text(_LEFT - 12, top + _BAR_PX / 2 + 4, label, "name", "end"))
        drawn += _bar(parts, label, top, longest)
    below = _BAR_TOP + 2 * _BAR_STEP + 6
    keys = list(_keys(parts, below))
    height = below + _KEY_STEP * (1 + len(parts)) + 4
    caption = "; ".join(f"{part.name}: {time(part.a_us)} in A, {time(part.b_us)} in B" for part in parts)
    return svg("parts", "Where the time of an inference goes", caption, height, [*drawn, *keys])


def _bar(parts: Sequence[Difference], label: str, top: float, longest: float) -> Iterator[str]:
    left = _LEFT
    for colour, part in zip(itertools.cycle(_COLOURS), parts, strict=False):
        us = max(0.0, part.a_us if label == "A" else part.b_us)
        width = us / longest * (_RIGHT - _LEFT)
        style = f"fill: var({colour}); fill-opacity: .55; stroke: var(--ground)"
        place = {"x": left, "y": top, "width": width, "height": _BAR_PX}
        yield element("rect", title(f"{label}, {part.name}: {time(us)}"), style=style, **place)
        if width_of(time(us), _KEY_PX) + 6 <= width:
            yield text(left + width / 2, top + _BAR_PX / 2 + 4, time(us), "time on-lane", "middle")
        left += width


def _keys(parts: Sequence[Difference], top: float) -> Iterator[str]:
    for row, (colour, part) in enumerate(zip(itertools.cycle(_COLOURS), parts, strict=False)):
        y = top + row * _KEY_STEP
        style = f"fill: var({colour}); fill-opacity: .55"
        yield element("rect", style=style, x=_LEFT, y=y, width=_SQUARE, height=_SQUARE)
        # The clock's part has all the time of the graph, and its share of the difference.
        name = f"HTP, computing; {part.name}" if part.said else part.name
        share = f": {percent(min(1.0, part.share))} of the difference" if part.shown and part.share > 0 else ""
        yield text(_LEFT + 18, y + 9, f"{name}{share}", "summary")


def spread_picture(comparison: Comparison) -> str:
    """Return the share of the runs within each time, for A and B; empty if a side has no single runs or statistics."""
    samples = comparison.differences.samples
    if not all(len(sample.points) > 2 for sample in samples):  # noqa: PLR2004 - a median and both ends
        return ""
    times = [value for sample in samples for _, value in sample.points]
    wide = max(times) > 20 * max(1.0, min(times))
    across = Scale.of(times, time, logarithmic=wide)
    chart = Chart(
        ("time of a run", across), ("share of the runs", Scale(0, 1, False, percent, (0, 0.25, 0.5, 0.75, 1)))
    )
    for label, sample in zip("AB", samples, strict=True):
        line, mark = _KINDS[label]
        chart.line(_thinned(sample), line, steps=sample.single)
        chart.mark(sample.median, 0.5, mark, f"{label}: {time(sample.median)}", f"median of {label}")
    caption = f"The median of A is {time(samples[0].median)}, of B {time(samples[1].median)}."
    return _svg("spread", "How the runs are spread", caption, chart)


def _thinned(sample: Sample) -> list[tuple[float, float]]:
    """Return the points of a line: time and share, not too many."""
    points = [(value, share) for share, value in sample.points]
    step = max(1, len(points) // _MOST_POINTS)
    return [*points[::step], *points[-1:]]


def order_picture(comparison: Comparison, runs: Sequence[Sequence[float]]) -> str:
    """Return the runs of both sides in their order; empty if a side has no single runs."""
    if not all(len(column) > 1 for column in runs):
        return ""
    times = [value for column in runs for value in column]
    up = Scale.of(times, time, logarithmic=max(times) > 20 * max(1.0, min(times)))
    chart = Chart(("run, from the first to the last", Scale(0, 1, False, percent, ())), ("time of a run", up))
    for label, column, sample in zip("AB", runs, comparison.differences.samples, strict=True):
        line, mark = _KINDS[label]
        step = max(1, len(column) // _MOST_POINTS)
        last = len(column) - 1
        chart.points([(place / last, column[place]) for place in range(0, len(column), step)], mark)
        chart.line([(0, sample.median), (1, sample.median)], line)
        chart.mark(0.5, sample.median, mark, label, f"median of {label}")
    return _svg("order", "The runs in their order", "The runs of A and B from the first to the last.", chart)


def _svg(name: str, says: str, caption: str, chart: Chart) -> str:
    return svg(name, says, caption, HEIGHT, chart.drawn(), more_style=STYLE + _STYLE)

"""The parts of an inference as bars, one for each measurement, all equally wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.svg import element, safe, shortened, text, title, width_of
from htppower.tools.review.pictures.style import SVG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Added to the style sheet of all pictures.
_STYLE = """
.htp .share { fill-opacity: .22; stroke-opacity: .8; }
.htp .host { fill: var(--prepare); stroke: var(--prepare); }
.htp .way { fill: var(--bus); stroke: var(--bus); }
.htp .around { fill: var(--hmx); stroke: var(--hmx); }
.htp .waits { fill: var(--sustain); stroke: var(--sustain); }
.htp .work { fill: var(--inference); stroke: var(--inference); }
"""
_WIDTH = 1000
_MARGIN = 16.0
_ROW_PX = 54
_NAME_PX = 18
_BAR_PX = 26
_LEGEND_PX = 22
_SAMPLE_PX = 26
_SIZE = 10
_PADDING = 6
# Even a part without time is visible.
_NARROWEST = 1.5


@attrs.frozen
class Share:
    """A part of a bar.

    Attributes:
        name: its name.
        kind: its class in the style sheet: ``host``, ``way``, ``around``, ``waits`` or ``work``.
        share: its part of the whole, from 0 to 1.
        says: its time.
    """

    name: str
    kind: str
    share: float
    says: str


@attrs.frozen
class Bar:
    """A whole: its name, how long it is, and its parts from left to right."""

    name: str
    says: str
    shares: tuple[Share, ...]


def shares_svg(bars: Sequence[Bar], caption: str, name: str = "shares") -> str:
    """Return the picture. ``name`` begins the ids in it, so that a page can hold several pictures."""
    legend = dict.fromkeys((share.kind, share.name) for bar in bars for share in bar.shares)
    lines = list(_legend_lines(list(legend)))
    top = _MARGIN / 2
    legend_top = top + _ROW_PX * len(bars)
    height = round(legend_top + _LEGEND_PX * len(lines) + _MARGIN / 2)
    ids = f"{name}-title {name}-desc"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="htp" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="{safe(ids)}">'
        ),
        element("title", safe(caption), id=f"{name}-title"),
        element("desc", safe(" ".join(map(_described, bars))), id=f"{name}-desc"),
        f"<style>{SVG}{_STYLE}</style>",
        element("rect", class_="ground", width=_WIDTH, height=height),
    ]
    for place, bar in enumerate(bars):
        parts += _bar(bar, top + _ROW_PX * place)
    for place, line in enumerate(lines):
        parts += _legend(line, legend_top + _LEGEND_PX * place)
    return "\n".join((*parts, "</svg>"))


def _described(bar: Bar) -> str:
    parts = ", ".join(f"{share.name} {share.says}, {100 * share.share:.0f} %" for share in bar.shares)
    return f"{bar.name}: {bar.says}, of which {parts}."


def _bar(bar: Bar, top: float) -> Iterator[str]:
    right = _WIDTH - _MARGIN
    said = width_of(bar.says, 11) + 2 * _PADDING
    yield text(_MARGIN, top + 12, shortened(bar.name, 11, right - _MARGIN - said), "voted")
    yield text(right, top + 12, bar.says, "faint", "end")
    left, y = _MARGIN, top + _NAME_PX
    for share in bar.shares:
        width = share.share * (right - _MARGIN)
        tip = title(f"{share.name}: {share.says}, {100 * share.share:.1f} %")
        place = {"x": min(left, right - _NARROWEST), "y": y, "width": max(width, _NARROWEST), "height": _BAR_PX}
        yield element("rect", tip, class_=f"share {share.kind}", **place)
        for words in (f"{share.name} {100 * share.share:.0f} %", f"{100 * share.share:.0f} %"):
            if width_of(words, _SIZE) + _PADDING <= width:
                yield text(left + width / 2, y + _BAR_PX / 2 + 3.5, words, "band", "middle")
                break
        left += width


def _legend_lines(entries: Sequence[tuple[str, str]]) -> Iterator[list[tuple[float, str, str]]]:
    """Yield the lines of the legend: for each entry its x, kind and name."""
    x = _MARGIN
    line: list[tuple[float, str, str]] = []
    for kind, name in entries:
        width = _SAMPLE_PX + width_of(name, 11) + 14
        if line and x + width > _WIDTH - _MARGIN:
            yield line
            x, line = _MARGIN, []
        line.append((x, kind, name))
        x += width
    if line:
        yield line


def _legend(line: Sequence[tuple[float, str, str]], top: float) -> Iterator[str]:
    for x, kind, name in line:
        yield element("rect", class_=f"share {kind}", x=x, y=top + 4, width=20.0, height=12.0)
        yield text(x + _SAMPLE_PX, top + 14, name, "faint")

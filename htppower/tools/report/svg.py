"""Pictures as SVG: self-contained, without a script, light or dark like the reader's system. Every text is escaped."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING

from htppower.tools.report.styled import xml_text

if TYPE_CHECKING:
    from collections.abc import Iterable

# On a page of the docs, the colours are taken from its theme, and otherwise from the system's colour scheme.
STYLE = """
.htp { --ink: var(--color-foreground-primary, #1f2328); --faint: var(--color-foreground-secondary, #59636e);
  --ground: var(--color-background-primary, #ffffff);
  --line: var(--color-background-border, #d1d9e0); --grid: var(--color-background-hover, #eceff2);
  --core: #bc4c00; --bus: #0969da; --hmx: #8250df; --inference: #1a7f37; --prepare: #57606a; --sustain: #bf8700;
  --fail: #cf222e; max-width: 100%; height: auto;
  font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
@media (prefers-color-scheme: dark) {
  .htp { --ink: var(--color-foreground-primary, #e6edf3); --faint: var(--color-foreground-secondary, #9198a1);
    --ground: var(--color-background-primary, #0d1117);
    --line: var(--color-background-border, #3d444d); --grid: var(--color-background-hover, #21262d);
    --core: #f0883e; --bus: #4493f8; --hmx: #ab7df8; --inference: #3fb950; --prepare: #9198a1; --sustain: #d29922;
    --fail: #f85149; } }
.htp .ground { fill: var(--ground); }
.htp text { fill: var(--ink); font-size: 11px; unicode-bidi: isolate; }
.htp .name { font-size: 18px; font-weight: 650; }
.htp .summary { font-size: 13px; }
.htp .setting, .htp .faint, .htp .time, .htp .near { fill: var(--faint); }
.htp .voted { font-weight: 600; }
.htp .band { font-size: 10px; font-weight: 600; }
.htp .tight { font-size: 9px; }
.htp .cut { font-style: italic; fill: var(--faint); }
.htp .note { font-size: 13px; fill: var(--faint); }
.htp .on-lane { paint-order: stroke; stroke: var(--ground); stroke-width: 4px; stroke-linejoin: round; }
.htp .frame { fill: none; stroke: var(--line); }
.htp .grid { stroke: var(--grid); }
.htp .axis, .htp .gap { stroke: var(--line); fill: none; }
.htp .zigzag { stroke: var(--faint); fill: none; }
.htp .call { stroke: var(--faint); stroke-dasharray: 2 3; stroke-opacity: .7; }
.htp .glyph { stroke: var(--ink); fill: var(--ink); stroke-width: 1.4; stroke-linejoin: round; }
.htp .create { fill: var(--ground); }
.htp .destroy { fill: none; stroke-width: 1.8; }
.htp .fail { fill: var(--fail); stroke: var(--fail); }
.htp .many { fill: var(--ground); stroke: var(--ink); }
.htp .phase { fill-opacity: .22; stroke-opacity: .8; }
.htp .INFERENCE { fill: var(--inference); stroke: var(--inference); }
.htp .INIT, .htp .DE-INIT { fill: var(--prepare); stroke: var(--prepare); }
.htp .column { fill-opacity: .07; stroke: none; }
.htp .window { stroke: var(--sustain); stroke-dasharray: 4 3; }
.htp .hatch { stroke: var(--sustain); stroke-width: 1.6; }
.htp .core { --clock: var(--core); } .htp .bus { --clock: var(--bus); } .htp .HMX { --clock: var(--hmx); }
.htp .target { fill: none; stroke: var(--clock); stroke-width: 2.2; stroke-linejoin: round; }
.htp .range { fill: var(--clock); fill-opacity: .25; stroke: none; }
.htp .value { fill: var(--faint); fill-opacity: .16; stroke: var(--faint); stroke-opacity: .7; }
.htp .strip { --clock: var(--faint); }
.htp .short { stroke-dasharray: 3 3; }
.htp .follows { stroke-dasharray: 5 4; stroke-width: 1.6; }
.htp .no-vote { stroke-dasharray: 2 4; stroke-width: 1.6; }
.htp .clock-name { fill: var(--clock); font-size: 12px; font-weight: 650; }
"""
WIDTH = 1000
# The widths of DejaVu Sans at 1 px, the widest of the usual system fonts.
_CAPITAL = 0.68
_CHARACTER = 0.58


def safe(text: object) -> str:
    """Return a text, escaped for element content and attributes."""
    return escape(xml_text(str(text)), quote=True)


def svg(name: str, says: str, in_words: str, height: float, parts: Iterable[str], *, more_style: str = "") -> str:
    """Return a picture of ``WIDTH`` px.

    Args:
        name: begins the ids of the picture, so that a page can hold several.
        says: its name.
        in_words: its content, for readers who can't see it.
        height: its height in px.
        parts: its elements, from the back to the front.
        more_style: added to the style sheet of all pictures.
    """
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="htp" width="{WIDTH}" height="{_number(height)}" '
        f'viewBox="0 0 {WIDTH} {_number(height)}" role="img" aria-labelledby="{safe(f"{name}-title {name}-desc")}">'
    )
    return "\n".join(
        (
            opening,
            element("title", safe(says), id=f"{name}-title"),
            element("desc", safe(in_words), id=f"{name}-desc"),
            f"<style>{STYLE}{more_style}</style>",
            element("rect", class_="ground", width=WIDTH, height=height),
            *parts,
            "</svg>",
        )
    )


def element(name: str, *content: str, **attributes: object) -> str:
    """Return an element. Content is markup; attribute values are escaped, ``class_`` and ``text_anchor`` renamed."""
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{_spell(value)}"' for key, value in attributes.items())
    return f"<{name}{said}>{''.join(content)}</{name}>" if content else f"<{name}{said}/>"


def text(x: float, y: float, said: object, kind: str, anchor: str = "start") -> str:
    """Return a text, escaped."""
    return element("text", safe(said), class_=kind, x=x, y=y, text_anchor=anchor)


def title(said: object) -> str:
    """Return a text that is shown under the pointer and read aloud."""
    return element("title", safe(said))


def path(points: Iterable[tuple[str, float, float]]) -> str:
    """Return the ``d`` of a path from commands with a point each."""
    return "".join(f"{command}{_number(x)},{_number(y)}" for command, x, y in points)


def width_of(said: str, size: float) -> float:
    """Return the approximate width of a text, in px."""
    return sum(map(_width, said)) * size


def shortened(said: str, size: float, width: float) -> str:
    """Return a text that fits, with an ellipsis if it was cut."""
    if width_of(said, size) <= width:
        return said
    # No character is narrower, so a very long text need not be searched from its end.
    most = min(len(said), int(width / (size * _CHARACTER)))
    while most and width_of(said[:most], size) > width - size:
        most -= 1
    return f"{said[:most].rstrip()}…"


def _spell(value: object) -> str:
    return _number(value) if isinstance(value, float) else safe(value)


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def _width(char: str) -> float:
    """Return the width of a character at 1 px."""
    if unicodedata.east_asian_width(char) in "WF":
        return 1
    return _CAPITAL if char.isupper() else _CHARACTER

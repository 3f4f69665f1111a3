"""Colours, arrows and the command line that the pictures of the pages share."""

from __future__ import annotations

import math
import sys
import textwrap
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Point = tuple[float, float]

_HEAD_LENGTH, _HEAD_HALF_WIDTH = 11, 4.5

# In a page the values of its theme; for a picture alone, the values of the system's colour scheme.
_STYLE = """
.sm { --sm-ink: var(--color-foreground-primary, #1f2328); --sm-faint: var(--color-foreground-secondary, #57606a);
  --sm-ground: var(--color-background-primary, #ffffff); --sm-box: var(--color-background-secondary, #f6f8fa);
  --sm-raise: #dd5420; --sm-lower: #249a4c; --sm-lose: #b7800f;
  font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  .sm { --sm-ink: var(--color-foreground-primary, #e6edf3); --sm-faint: var(--color-foreground-secondary, #9da7b3);
    --sm-ground: var(--color-background-primary, #131416); --sm-box: var(--color-background-secondary, #1a1c1e); } }
.sm .ground { fill: var(--sm-ground); }
.sm .frame { fill: none; stroke: var(--sm-faint); stroke-dasharray: 6 5; }
.sm .box { fill: var(--sm-box); stroke: var(--sm-ink); stroke-width: 1.4; }
.sm text { fill: var(--sm-ink); }
.sm .name { font-size: 15px; font-weight: 700; text-anchor: middle; }
.sm .meaning { font-size: 12.5px; fill: var(--sm-faint); text-anchor: middle; }
.sm .note { font-size: 12.5px; fill: var(--sm-faint); }
.sm .label { font-size: 14px; font-weight: 600; }
.sm .line { fill: none; stroke: var(--sm-stroke); stroke-width: 1.8; }
.sm .head { fill: var(--sm-stroke); }
.sm g { --sm-stroke: var(--sm-ink); }
.sm .code { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; font-size: 12.5px; }
.sm .axis { stroke: var(--sm-faint); stroke-width: 1; }
.sm .guide { stroke: var(--sm-faint); stroke-width: 1; stroke-dasharray: 2 4; }
.sm .busy { fill: var(--sm-faint); }
.sm .level { fill: none; stroke: var(--sm-stroke); stroke-width: 2.4; }
.sm .kept { fill: var(--sm-stroke); fill-opacity: 0.16; }
.sm .bad { fill: var(--sm-lose); fill-opacity: 0.22; stroke: var(--sm-lose); }
.sm .onbad { font-size: 12.5px; font-weight: 600; }
.sm .pill { fill: var(--sm-box); stroke: var(--sm-stroke); stroke-width: 2; }
.sm .pilled { font-size: 13px; font-weight: 600; }
.sm g.raise, .sm g.revise { --sm-stroke: var(--sm-raise); }
.sm g.lower, .sm g.lower-further { --sm-stroke: var(--sm-lower); }
.sm g.lose { --sm-stroke: var(--sm-lose); }
"""


def opening(name: str, width: int, height: int, title: str, description: str) -> Iterator[str]:
    """Yield the head of an SVG of this size in pixels, with its style, its ground and a description of it.

    Its ids begin with the name, so that they are unique in a page.
    """
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sm" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-desc">'
    )
    yield f'<title id="{name}-title">{escape(title)}</title>'
    yield f'<desc id="{name}-desc">{escape(description)}</desc>'
    yield f"<style>{_STYLE}</style>"
    yield f'<rect class="ground" width="{width}" height="{height}"/>'


def draw_text(x: float, y: float, text: str, kind: str = "note", anchor: str = "start") -> str:
    """Draw a text at its baseline; the kind is a class of the style."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def draw_box(x: float, y: float, width: float, height: float, kind: str = "box") -> str:
    """Draw a rectangle; the kind is a class of the style."""
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def draw_state(corner: Point, size: Point, name: str, meaning: str, characters_a_line: int) -> str:
    """Draw the box of a state, with its name and its meaning in it."""
    (x, y), (width, height) = corner, size
    middle = x + width / 2
    lines = _balanced(meaning, characters_a_line)
    first = y + (height - 16 * len(lines)) / 2 + 4
    parts = [
        f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="9"/>',
        f'<text class="name" x="{middle:g}" y="{first:g}">{name}</text>',
    ]
    for number, line in enumerate(lines, start=1):
        at = first + 2 + 16 * number
        parts.append(f'<text class="meaning" x="{middle:g}" y="{at:g}">{escape(line)}</text>')
    return f"<g>{''.join(parts)}</g>"


def _balanced(text: str, characters_a_line: int) -> list[str]:
    """Return a text in as few lines as it needs, of about the same length."""
    fewest = len(textwrap.wrap(text, characters_a_line))
    return next(lines for width in range(1, len(text) + 1) if len(lines := textwrap.wrap(text, width)) <= fewest)


def draw_steps(points: Sequence[Point], kind: str = "level") -> str:
    """Draw a line as steps: it keeps its height until the next point."""
    (x, y), *rest = points
    return f'<path class="{kind}" d="M{x:g},{y:g}{"".join(f"H{at:g}V{height:g}" for at, height in rest)}"/>'


def draw_line(points: Sequence[Point], *, curved: bool = False) -> Iterator[str]:
    """Draw an arrow: a line, or a cubic curve, and its head; the line ends inside the head, not at its tip."""
    *before, tip = points
    angle = math.atan2(tip[1] - before[-1][1], tip[0] - before[-1][0])
    cos, sin = math.cos(angle), math.sin(angle)
    back = (tip[0] - _HEAD_LENGTH * cos, tip[1] - _HEAD_LENGTH * sin)
    left = (back[0] - _HEAD_HALF_WIDTH * sin, back[1] + _HEAD_HALF_WIDTH * cos)
    right = (back[0] + _HEAD_HALF_WIDTH * sin, back[1] - _HEAD_HALF_WIDTH * cos)
    first, *rest = (_spell(point) for point in (*before, back))
    yield f'<path class="line" d="M{first} {"C" if curved else "L"}{" ".join(rest)}"/>'
    yield f'<polygon class="head" points="{" ".join(map(_spell, (tip, left, right)))}"/>'


def main(arguments: list[str], path: Path, picture: Callable[[], str], usage: str | None) -> int:
    """Write a picture, or with ``--check`` compare it with the file; return the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{usage}\n")
        return 2
    if not arguments:
        path.write_text(picture(), encoding="utf-8")
        return 0
    if path.is_file() and path.read_text(encoding="utf-8") == picture():
        return 0
    sys.stderr.write(f"{path.name} is not what the code says: run python -m docs.{path.stem}\n")
    return 1


def _spell(point: Point) -> str:
    return ",".join(f"{round(coordinate, 1):g}" for coordinate in point)

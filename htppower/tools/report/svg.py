"""SVG elements as text, with every text escaped."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING

from htppower.tools.report.styled import xml_text

if TYPE_CHECKING:
    from collections.abc import Iterable

# The widths of DejaVu Sans at 1 px, the widest of the usual system fonts.
_CAPITAL = 0.68
_CHARACTER = 0.58


def safe(text: object) -> str:
    """Return a text, escaped for element content and attributes."""
    return escape(xml_text(str(text)), quote=True)


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

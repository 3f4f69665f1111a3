"""Draw the states of the link to the DSP: ``docs/link.svg`` from the table in ``control/core/link.py``.

python -m docs.link            write the picture
python -m docs.link --check    exit 1 if the table gives another picture

The table has the arrows; ``_BOXES`` and ``_ROUTES`` have only their places. An arrow without a
route, and a route without an arrow, are errors. If an event leads every state of its frame to one state, that is one
arrow from the frame.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import attrs

from docs.drawing import Point, draw_line, draw_state, main, opening
from htppower.control.core.link import TABLE, LinkEvent
from htppower.events import LinkState
from htppower.tools.review.link_words import LINK_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "link.svg"

_WIDTH, _HEIGHT = 740, 586
_SIZE = (150, 116)
_CHARACTERS_A_LINE = 21

# The upper left corner of each state.
_BOXES = {
    LinkState.WELL: (124, 92),
    LinkState.SUSPECT: (286, 232),
    LinkState.LOST: (124, 372),
    LinkState.DEAD: (556, 152),
    LinkState.HELD: (556, 372),
}
# Frames around states, by their states: x, y, width, height.
_ALL = frozenset(LinkState)
_UP = frozenset({LinkState.WELL, LinkState.LOST, LinkState.SUSPECT})
_FRAMES = {_ALL: (12, 56, 716, 502), _UP: (110, 76, 340, 436)}

_FRAME_OF = {LinkEvent.WORKED: _ALL, LinkEvent.LOST: _ALL, LinkEvent.DEAD: _UP}

_LABELS = {
    LinkEvent.WORKED: ("a call works",),
    LinkEvent.LOST: ("1007",),
    LinkEvent.SUSPECT: ("13003",),
    LinkEvent.DEAD: ("1011, or", "13003 lasts"),
    LinkEvent.IN_VAIN: ("fails again",),
    LinkEvent.TOLD: ("link_lost()",),
}
_KINDS = {LinkEvent.WORKED: "lower", LinkEvent.TOLD: "plain"}


@attrs.frozen
class Arrow:
    """One arrow of the picture.

    Attributes:
        event: what happens.
        sources: one state, or the states of a frame; the arrow starts there, except in its destination.
        dest: the state that follows.
    """

    event: LinkEvent
    sources: frozenset[LinkState]
    dest: LinkState


@attrs.frozen
class Route:
    """The path of an arrow, as points of a line or of a cubic curve, and the place of its label."""

    points: tuple[Point, ...]
    label: Point
    anchor: str = "middle"
    curved: bool = False


def _one(state: LinkState) -> frozenset[LinkState]:
    return frozenset({state})


_ROUTES = {
    Arrow(LinkEvent.WORKED, _ALL, LinkState.WELL): Route(((12, 150), (124, 150)), (61, 141)),
    Arrow(LinkEvent.LOST, _ALL, LinkState.LOST): Route(((12, 430), (124, 430)), (61, 421)),
    Arrow(LinkEvent.SUSPECT, _one(LinkState.WELL), LinkState.SUSPECT): Route(
        ((274, 150), (361, 150), (361, 180), (361, 232)), (370, 178), "start", curved=True
    ),
    Arrow(LinkEvent.SUSPECT, _one(LinkState.LOST), LinkState.SUSPECT): Route(
        ((274, 430), (361, 430), (361, 400), (361, 348)), (370, 412), "start", curved=True
    ),
    Arrow(LinkEvent.DEAD, _UP, LinkState.DEAD): Route(((450, 210), (556, 210)), (502, 184)),
    Arrow(LinkEvent.IN_VAIN, _one(LinkState.DEAD), LinkState.HELD): Route(((604, 268), (604, 372)), (594, 324), "end"),
    Arrow(LinkEvent.TOLD, _one(LinkState.HELD), LinkState.DEAD): Route(((632, 372), (632, 268)), (642, 324), "start"),
}


def arrows() -> tuple[Arrow, ...]:
    """Return the arrows of the table.

    Raises:
        ValueError: an arrow has no route, or a route has no arrow.
    """
    wanted = []
    for place, event in enumerate(LinkEvent):
        leads = {source: dests[place] for source, dests in TABLE.items() if dests[place] is not source}
        for dest in dict.fromkeys(leads.values()):
            sources = frozenset(source for source in leads if leads[source] is dest)
            frame = _FRAME_OF.get(event, frozenset())
            starts = [frame] if sources == frame - _one(dest) else map(_one, sorted(sources))
            wanted += [Arrow(event, start, dest) for start in starts]
    strays = set(wanted) ^ set(_ROUTES)
    if strays:
        raise ValueError(f"table and routes of {Path(__file__).name} differ in {sorted(map(str, strays))}")
    return tuple(wanted)


def picture() -> str:
    """Return the SVG."""
    return "\n".join((*_head(), *_frames(), *map(_box, LinkState), *_opening(), *map(_arrow, arrows()), "</svg>", ""))


def _head() -> Iterator[str]:
    states = "; ".join(f"{state}: {meaning}" for state, meaning in LINK_MEANINGS.items())
    said = "; ".join(
        f"{', '.join(sorted(arrow.sources - _one(arrow.dest)))} to {arrow.dest}: {arrow.event}" for arrow in arrows()
    )
    yield from opening("link", _WIDTH, _HEIGHT, "States of the link to the DSP", f"{states}. {said}.")


def _frames() -> Iterator[str]:
    for x, y, width, height in _FRAMES.values():
        yield f'<rect class="frame" x="{x}" y="{y}" width="{width}" height="{height}" rx="14"/>'
    x, y, width, height = _FRAMES[_ALL]
    note = "An arrow from a frame starts in each state inside it."
    yield f'<text class="note" x="{x + 16}" y="{y + height - 15}">{note}</text>'


def _box(state: LinkState) -> str:
    return draw_state(_BOXES[state], _SIZE, state, LINK_MEANINGS[state], _CHARACTERS_A_LINE)


def _opening() -> Iterator[str]:
    """Draw where the link begins."""
    x, y = _BOXES[LinkState.WELL][0] + _SIZE[0] / 2, 24
    yield f'<g><circle class="head" cx="{x:g}" cy="{y}" r="6"/>'
    yield from draw_line(((x, y), (x, _BOXES[LinkState.WELL][1])))
    yield f'<text class="note" x="{x + 14:g}" y="{y + 5}">the first controller on a backend is made</text></g>'


def _arrow(arrow: Arrow) -> str:
    route, lines = _ROUTES[arrow], _LABELS[arrow.event]
    x, y = route.label
    return "".join(
        (
            f'<g class="{_KINDS.get(arrow.event, "lose")}"><title>{escape(arrow.event)}</title>',
            *draw_line(route.points, curved=route.curved),
            *(
                f'<text class="label" x="{x:g}" y="{y + 17 * number:g}" text-anchor="{route.anchor}">{line}</text>'
                for number, line in enumerate(lines)
            ),
            "</g>",
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))

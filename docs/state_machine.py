"""Draw the session's state machine: ``docs/state_machine.svg`` from the table in ``control/core/state_machine.py``.

python -m docs.state_machine            write the picture
python -m docs.state_machine --check    exit 1 if the table gives another picture

The table has the arrows; ``_BOXES`` and ``_ROUTES`` have only their places. An arrow without a
route, and a route without an arrow, are errors. A transition from every live state is one arrow from the frame around
them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import attrs

from docs.drawing import Point, draw_line, draw_state, main, opening
from htppower.control.core.state_machine import MEANINGS, TRANSITIONS
from htppower.events import State, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "state_machine.svg"

_WIDTH, _HEIGHT = 700, 670
_BOX_WIDTH, _BOX_HEIGHT = 196, 92
_FRAME = (24, 62, 652, 456)  # x, y, width, height
_CHARACTERS_A_LINE = 26

# The upper left corner of each state.
_BOXES = {
    State.UNVOTED: (128, 140),
    State.RAISED: (464, 140),
    State.UNKNOWN: (128, 370),
    State.LOWERED: (464, 370),
    State.DESTROYED: (252, 566),
}

_LIVE = tuple(state for state in State if state is not State.DESTROYED)


@attrs.frozen
class Arrow:
    """One arrow of the picture; the source None is the frame around the live states."""

    trigger: Trigger
    source: State | None
    dest: State


@attrs.frozen
class Route:
    """The path of an arrow, as points of a line or of a cubic curve, and the place of its label."""

    points: tuple[Point, ...]
    label: Point
    anchor: str = "middle"
    curved: bool = False


_ROUTES = {
    Arrow(Trigger.RAISE, State.UNVOTED, State.RAISED): Route(((324, 186), (464, 186)), (394, 177)),
    Arrow(Trigger.RAISE, State.LOWERED, State.RAISED): Route(((592, 370), (592, 232)), (602, 306), "start"),
    Arrow(Trigger.RAISE, State.UNKNOWN, State.RAISED): Route(((296, 370), (474, 232)), (366, 296), "end"),
    Arrow(Trigger.REVISE, State.RAISED, State.RAISED): Route(
        ((532, 140), (526, 92), (598, 92), (592, 140)), (562, 92), curved=True
    ),
    Arrow(Trigger.LOWER, State.RAISED, State.LOWERED): Route(((532, 232), (532, 370)), (522, 306), "end"),
    Arrow(Trigger.LOWER, State.UNKNOWN, State.LOWERED): Route(((324, 416), (464, 416)), (394, 407)),
    Arrow(Trigger.LOWER_FURTHER, State.LOWERED, State.LOWERED): Route(
        ((532, 462), (526, 502), (598, 502), (592, 462)), (562, 508), curved=True
    ),
    Arrow(Trigger.LOSE, None, State.UNKNOWN): Route(((24, 416), (128, 416)), (76, 407)),
    Arrow(Trigger.RELEASE, None, State.UNVOTED): Route(((24, 186), (128, 186)), (76, 177)),
    Arrow(Trigger.DESTROY, None, State.DESTROYED): Route(((350, 518), (350, 566)), (362, 547), "start"),
}


def arrows() -> tuple[Arrow, ...]:
    """Return the arrows of the transition table.

    Raises:
        ValueError: an arrow has no route, or a route has no arrow.
    """
    wanted = tuple(
        Arrow(row.trigger, source, row.dest)
        for row in TRANSITIONS
        for source in ((None,) if set(row.sources) == set(_LIVE) else row.sources)
    )
    strays = set(wanted) ^ set(_ROUTES)
    if strays:
        raise ValueError(f"table and routes of {Path(__file__).name} differ in {sorted(map(str, strays))}")
    return wanted


def picture() -> str:
    """Return the SVG."""
    return "\n".join((*_head(), *_frame(), *map(_box, State), *_opening(), *map(_arrow, arrows()), "</svg>", ""))


def _head() -> Iterator[str]:
    said = "; ".join(f"{row.trigger}: {', '.join(row.sources)} to {row.dest}, to {row.meaning}" for row in TRANSITIONS)
    yield from opening("sm", _WIDTH, _HEIGHT, "States and transitions of a session", f"{said}.")


def _frame() -> Iterator[str]:
    x, y, width, height = _FRAME
    yield f'<rect class="frame" x="{x}" y="{y}" width="{width}" height="{height}" rx="14"/>'
    note = "An arrow from the frame starts in each state inside it."
    yield f'<text class="note" x="{x + 16}" y="{y + height - 13}">{note}</text>'


def _box(state: State) -> str:
    return draw_state(_BOXES[state], (_BOX_WIDTH, _BOX_HEIGHT), state, MEANINGS[state], _CHARACTERS_A_LINE)


def _opening() -> Iterator[str]:
    """Draw where a session begins."""
    x, y = _BOXES[State.UNVOTED][0] + _BOX_WIDTH / 2, 26
    yield f'<g><circle class="head" cx="{x:g}" cy="{y}" r="6"/>'
    yield from draw_line(((x, y), (x, _BOXES[State.UNVOTED][1])))
    note = "a session is opened: its power config ids are created"
    yield f'<text class="note" x="{x + 14:g}" y="{y + 5}">{note}</text></g>'


def _arrow(arrow: Arrow) -> str:
    route = _ROUTES[arrow]
    (row,) = (row for row in TRANSITIONS if row.trigger is arrow.trigger)
    x, y = route.label
    return "".join(
        (
            f'<g class="{arrow.trigger.replace(" ", "-")}"><title>{arrow.trigger}: {escape(row.meaning)}</title>',
            *draw_line(route.points, curved=route.curved),
            f'<text class="label" x="{x:g}" y="{y:g}" text-anchor="{route.anchor}">{arrow.trigger}</text></g>',
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))

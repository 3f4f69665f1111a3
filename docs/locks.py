"""Draw the locks of a controller: ``docs/locks.svg`` from ``htppower.control.time.locks.Rank``.

python -m docs.locks            write the picture
python -m docs.locks --check    exit 1 where the picture is not what the ranks say

The ranks say which locks there are, and in which order they are taken; ``_SAID`` says in few words what
``htppower/control/time/locks.py`` says of each. A rank without words, and words without a rank, are errors.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import attrs

from docs.drawing import draw_line, main, opening
from htppower.control.time.locks import Rank

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "locks.svg"

_WIDTH, _HEIGHT = 720, 850
_LEFT, _BOX_WIDTH, _BOX_HEIGHT = 198, 340, 56
_TOP, _STEP = 62, 73
_ENTRY_X = 24
_SIDE_X = _LEFT + _BOX_WIDTH + 34


@attrs.frozen
class Said:
    """What is said of the locks of a rank.

    Attributes:
        how_many: how many of them there are.
        protects: what they protect.
        comes: who takes one first of all, in lines.
        over_calls: whether one is held over a native call.
    """

    how_many: str
    protects: str
    comes: tuple[str, ...] = ()
    over_calls: bool = False


_SAID = {
    Rank.REMAINS: Said(
        "one a controller",
        "bringing down what is left of closed sessions",
        ("the back-off, and", "who closes the", "controller"),
        over_calls=True,
    ),
    Rank.TURN: Said(
        "one a session",
        "state, ids, and what is in force on them",
        ("whoever raises,", "lowers or closes"),
        over_calls=True,
    ),
    Rank.PROCESS: Said(
        "one a backend",
        "the call that changes settings of the process",
        over_calls=True,
    ),
    Rank.CALL: Said("one a backend, for some", "a backend that takes one call at a time", over_calls=True),
    Rank.REGISTRY: Said("one a controller", "sessions, holds, caps, back-off, epoch", ("open, hold, cap,", "status()")),
    Rank.SETTINGS: Said("one a backend", "wishes for settings of the process"),
    Rank.GATE: Said("one a session", "counts of phases, deadline, alarm", ("an inference", "inside its window")),
    Rank.EVENTS: Said("one a controller", "the order of events"),
    Rank.TIME: Said("one a controller", "inside clock and alarms"),
    Rank.WORKER: Said("one a worker or pool", "inside threads and pools of threads"),
}


def picture() -> str:
    """Return the SVG.

    Raises:
        ValueError: not every rank, or something else, has words.
    """
    if list(_SAID) != list(Rank):
        raise ValueError(f"words are for {list(_SAID)}, and ranks are {list(Rank)}")
    said = "; ".join(f"{rank.name}, {words.how_many}: {words.protects}" for rank, words in _SAID.items())
    title = "The locks of a controller, in the order in which they are taken"
    head = opening("locks", _WIDTH, _HEIGHT, title, f"{said}.")
    return "\n".join((*head, *_notes(), *_frames(), *map(_box, Rank), *_steps(), "</svg>", ""))


def _top(rank: Rank) -> int:
    return _TOP + _STEP * (rank - 1)


def _notes() -> Iterator[str]:
    yield _text(_LEFT, 30, "A thread that holds a lock takes only those below it, or the same again.")
    bottom = _top(Rank.WORKER) + _BOX_HEIGHT
    yield _text(_LEFT, bottom + 40, "With none held: events are delivered, subscribers are called.")
    yield _text(_LEFT, bottom + 58, "What the garbage collector runs takes none: it hands on to a thread.")


def _frames() -> Iterator[str]:
    """Draw what is held over native calls, and what is not."""
    over = [rank for rank in Rank if _SAID[rank].over_calls]
    under = [rank for rank in Rank if not _SAID[rank].over_calls]
    for ranks, lines in (
        (over, ("held over", "a native call")),
        (under, ("no native call", "is made under", "any of these")),
    ):
        top, bottom = _top(ranks[0]) - 7, _top(ranks[-1]) + _BOX_HEIGHT + 7
        yield (
            f'<rect class="frame" x="{_LEFT - 12}" y="{top}" width="{_WIDTH - _LEFT - 8}" height="{bottom - top}" '
            'rx="12"/>'
        )
        middle = (top + bottom) / 2 - 8 * (len(lines) - 1) + 4
        for number, text in enumerate(lines):
            yield _text(_SIDE_X, middle + 17 * number, text, "label")


def _box(rank: Rank) -> str:
    words, y = _SAID[rank], _top(rank)
    parts = [
        f'<rect class="box" x="{_LEFT}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="9"/>',
        _text(_LEFT + 14, y + 23, rank.name, "label"),
        f'<text class="note" x="{_LEFT + _BOX_WIDTH - 14}" y="{y + 23}" text-anchor="end">{words.how_many}</text>',
        _text(_LEFT + 14, y + 43, words.protects),
    ]
    if words.comes:
        middle = y + _BOX_HEIGHT / 2
        first = middle - 8 * (len(words.comes) - 1) + 4
        parts += [_text(_ENTRY_X, first + 16 * number, text) for number, text in enumerate(words.comes)]
        parts += draw_line(((_LEFT - 48, middle), (_LEFT, middle)))
    return f"<g>{''.join(parts)}</g>"


def _steps() -> Iterator[str]:
    """Draw the order: an arrow from each lock to the next."""
    x = _LEFT + _BOX_WIDTH / 2
    for rank in list(Rank)[:-1]:
        arrow = draw_line(((x, _top(rank) + _BOX_HEIGHT), (x, _top(rank) + _STEP)))
        yield f"<g>{''.join(arrow)}</g>"


def _text(x: float, y: float, text: str, kind: str = "note") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))

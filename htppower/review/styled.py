"""Text with styles, and text from files made safe for a terminal.

A renderer marks what it styles with ``styled``. ``plain`` and ``coloured`` turn a finished text into what is written:
they know a style by its marks, and write everything else that a terminal could act on as an escape. So no name, summary
or path can move the cursor, colour a line or forge one, whatever it holds and wherever it comes in.

The marks are noncharacters of Unicode, which no text that is exchanged holds.
"""

from __future__ import annotations

import re

from htppower.errors import printable

# The parameter of each style (ECMA-48, SGR).
_CODES = {"end": 0, "bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "cyan": 36}
# U+FDD0 to U+FDEF.
_FIRST_MARK = 0xFDD0
_STYLES = {name: chr(_FIRST_MARK + place) for place, name in enumerate(_CODES)}
_SEQUENCES = {_STYLES[name]: f"\x1b[{code}m" for name, code in _CODES.items()}
_END = _STYLES["end"]
# Each pattern is compiled where it is first used: most commands use one of them.
_MARKS = f"[{''.join(_SEQUENCES)}]"
# Everything but a line's end, a tab and plain ASCII is looked at.
_UNUSUAL = r"[^\n\t -~]"
# What markup may not hold: control characters, and halves of characters.
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"


def styled(text: str, *styles: str | None) -> str:
    """Return a text of one line, made printable and marked with styles: ``bold``, ``red``, ``green`` and so on.

    None is no style, so that a table of colours need not have all. Pad a text to its column before it is styled: the
    marks count in ``len``.
    """
    marks = "".join(_STYLES[style] for style in styles if style is not None)
    return f"{marks}{printable(text)}{_END}" if marks else printable(text)


def plain(text: str) -> str:
    """Return a finished text without its styles; of what is not printable, only tabs and ends of lines stay."""
    unmarked = text
    for mark in _SEQUENCES:
        unmarked = unmarked.replace(mark, "")
    if _is_plain(unmarked):
        return unmarked
    return re.sub(_UNUSUAL, lambda found: "" if found[0] in _SEQUENCES else printable(found[0]), text)


def coloured(text: str) -> str:
    """Return a finished text with the sequences of its styles, made safe as by ``plain``."""
    unmarked, marked = text, text
    for mark, sequence in _SEQUENCES.items():
        unmarked, marked = unmarked.replace(mark, ""), marked.replace(mark, sequence)
    if _is_plain(unmarked):
        return marked
    return re.sub(_UNUSUAL, lambda found: _SEQUENCES.get(found[0]) or printable(found[0]), text)


def _is_plain(text: str) -> bool:
    """Return whether a text without styles needs no escapes, as most do: a pattern takes long to compile."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def width(text: str) -> int:
    """Return how many characters a text with styles has without them."""
    return len(re.sub(_MARKS, "", text))


def safe_markup(text: str) -> str:
    """Return HTML, SVG or XML without what a terminal would obey; every letter of every script stays."""
    return re.sub(_CONTROLS, lambda found: printable(found[0]), text)

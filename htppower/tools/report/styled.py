"""Text with styles, and text from files made safe for a terminal.

A renderer marks text with ``styled``. ``plain`` and ``coloured`` turn a finished text into the output: they turn the
marks into styles, and escape everything else that a terminal could act on. So a name, summary or path can't move the
cursor, colour a line or forge one, whatever it holds.

The marks are noncharacters of Unicode, which no exchanged text should hold.
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
# Each pattern is compiled when it is first used, since most commands use only one.
_MARKS = f"[{''.join(_SEQUENCES)}]"
# Everything except line ends, tabs and plain ASCII.
_UNUSUAL = r"[^\n\t -~]"
# Characters that markup may not hold: control characters and surrogates.
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
# Characters that XML 1.0 has no way to write.
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def styled(text: str, *styles: str | None) -> str:
    """Return a text of one line, made printable and marked with styles: ``bold``, ``red``, ``green`` and so on.

    The style None is ignored, so that a table of colours need not have all. Pad a text to its column before it is
    styled, because the marks count in ``len``.
    """
    marks = "".join(_STYLES[style] for style in styles if style is not None)
    return f"{marks}{printable(text)}{_END}" if marks else printable(text)


def plain(text: str) -> str:
    """Return a finished text without its styles. Of unprintable characters, only tabs and line ends stay."""
    unmarked = text
    for mark in _SEQUENCES:
        unmarked = unmarked.replace(mark, "")
    if _is_plain(unmarked):
        return unmarked
    return re.sub(_UNUSUAL, lambda found: "" if found[0] in _SEQUENCES else printable(found[0]), text)


def coloured(text: str) -> str:
    """Return a finished text with the escape sequences of its styles, made safe as by ``plain``."""
    unmarked, marked = text, text
    for mark, sequence in _SEQUENCES.items():
        unmarked, marked = unmarked.replace(mark, ""), marked.replace(mark, sequence)
    if _is_plain(unmarked):
        return marked
    return re.sub(_UNUSUAL, lambda found: _SEQUENCES.get(found[0]) or printable(found[0]), text)


def _is_plain(text: str) -> bool:
    """Return whether a text without styles needs no escapes, as most do, since compiling a pattern takes long."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def width(text: str) -> int:
    """Return the number of characters in a text without its styles."""
    return len(re.sub(_MARKS, "", text))


def safe_markup(text: str) -> str:
    """Return HTML, SVG or XML without characters that a terminal would obey. Letters of every script stay."""
    return re.sub(_CONTROLS, lambda found: printable(found[0]), text)


def xml_text(text: str) -> str:
    """Return a text with U+FFFD in place of each character that XML and HTML can't hold, not even escaped."""
    return re.sub(_NOT_XML, "\N{REPLACEMENT CHARACTER}", text)

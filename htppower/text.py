"""Texts that come from files, as they may be printed."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text that does nothing to a terminal or a log: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )

"""Suggests a known word for an unknown one."""

from __future__ import annotations

import difflib
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# No name here, and no file name, is longer; comparing a text of 1 MiB would be slow.
_LONGEST_WORD = 255
# All that explain knows has fewer names. A folder may hold thousands, and each of them may start a search.
_MOST_COMPARED = 500
_MOST_TOLD = 100


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the most similar known word, or a list of the known words, shortened if it is very long."""
    known = list(known)
    near = nearest(word, known)
    if near:
        return f"did you mean {near}?"
    more = f", and {len(known) - _MOST_TOLD} more" if len(known) > _MOST_TOLD else ""
    return f"one of {', '.join(known[:_MOST_TOLD])}{more}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the most similar known word, or None if none is similar; compares at most ``_MOST_COMPARED`` words."""
    if len(word) > _LONGEST_WORD:
        return None
    by_case = {name.casefold(): name for name in itertools.islice(known, _MOST_COMPARED)}
    near = difflib.get_close_matches(word.casefold(), by_case, n=1)
    return by_case[near[0]] if near else None

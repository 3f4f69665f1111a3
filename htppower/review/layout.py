"""Text in two columns, 100 characters wide: a label and its text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 100
_LABEL = 10


def labelled(label: str, text: str) -> Iterator[str]:
    """Yield the lines of a text after a label."""
    lines = textwrap.wrap(text, WIDTH - _LABEL - 2, break_on_hyphens=False, break_long_words=False) or [""]
    yield f"{label:<{_LABEL}}  {lines[0]}".rstrip()
    for line in lines[1:]:
        yield f"{'':<{_LABEL}}  {line}"

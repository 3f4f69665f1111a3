"""The comments of a file that are for htppower; YAML itself keeps no comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What the comment says stands in the group. A comment that only speaks of htppower has no colon and disables nothing.
COMMENT = re.compile(r"#+\s*htppower(?P<said>\s*:.*|\s+(?:disable|until|because)\b.*)$", re.IGNORECASE)

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def comments_for_htppower(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the 1-based line and column of the comments that are for htppower, and are no part of a value.

    Args:
        text: of the file.
        lines: the same in lines.
    """
    candidates = [
        (number, match.start() + 1)
        for number, line in enumerate(lines, 1)
        if "htppower" in line.lower()
        for match in re.finditer("#", line)
        if COMMENT.match(line, match.start()) and (match.start() == 0 or line[match.start() - 1].isspace())
    ]
    if not candidates:
        return
    values = list(_values(text))
    told = 0
    for line, column in candidates:
        if line != told and not any(first <= (line, column) < last for first, last in values):
            told = line
            yield line, column


def _values(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where every plain value begins and ends, as far as the text is YAML."""
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            start, end = event.start_mark, event.end_mark
            if isinstance(event, yaml.ScalarEvent) and start is not None and end is not None:
                yield (start.line + 1, start.column + 1), (end.line + 1, end.column + 1)
    except yaml.YAMLError:
        return

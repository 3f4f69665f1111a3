"""The comments of a file that are for htppower; YAML itself keeps no comments."""

from __future__ import annotations

import itertools
import re
import sys
from typing import TYPE_CHECKING, Any

import yaml

from htppower.profiles.strict_yaml import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What the comment says stands in the group. A comment that only speaks of htppower has no colon and disables nothing.
COMMENT = re.compile(r"#+\s*htppower(?P<said>\s*:.*|\s+(?:disable|until|because)\b.*)$", re.IGNORECASE)

# Behind everything.
_END = (sys.maxsize, 0)
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def comments_for_htppower(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the 1-based line and column of the comments that are for htppower, and are no part of a value.

    No more are read than a file may have values.

    Args:
        text: of the file.
        lines: the same in lines.
    """
    values = _values(text)
    first = last = (0, 0)
    told = 0
    for line, column in itertools.islice(_candidates(lines), MOST_VALUES):
        while last <= (line, column):
            first, last = next(values, (_END, _END))
        if line != told and not first <= (line, column) < last:
            told = line
            yield line, column


def _candidates(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where a comment for htppower would begin, if no value holds it."""
    for number, line in enumerate(lines, 1):
        for match in re.finditer("#", line) if "htppower" in line.lower() else ():
            start = match.start()
            if COMMENT.match(line, start) and (start == 0 or line[start - 1].isspace()):
                yield number, start + 1


def _values(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where every plain key and value begins and ends, as far as the text is YAML that can be a profile."""
    try:
        scalars = (event for event in yaml.parse(text, Loader=_LOADER) if isinstance(event, yaml.ScalarEvent))
        for event in itertools.islice(scalars, 2 * MOST_VALUES):
            start, end = event.start_mark, event.end_mark
            if start is not None and end is not None:
                yield (start.line + 1, start.column + 1), (end.line + 1, end.column + 1)
    except yaml.YAMLError:
        return

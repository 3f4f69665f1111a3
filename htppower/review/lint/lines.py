"""The lines of a file, and the comments in it that are for htppower; YAML itself keeps no comments."""

import codecs
import contextlib
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from htppower.profiles.quoting import KEYS
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, read_regular_file
from htppower.profiles.strict_yaml import MOST_VALUES

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.

# What the comment says stands in the group. A comment that only speaks of htppower has no colon and disables nothing.
_COMMENT = r"#+\s*htppower(?P<said>\s*:.*|\s+(?:disable|until|because)\b.*)$"
# Where such a comment begins. A search for it looks at each run of # once, however many there are.
_BEGIN = r"(?:^|(?<=\s))#(?=#*\s*htppower(?:\s*:|\s+(?:disable|until|because)\b))"

# Behind the end of every file.
_END = (sys.maxsize, 0)
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LINE_BREAK = r"\r\n|[\n\r\x85\u2028\u2029]"
# The report repeats the line for every finding on it; more of it helps nobody.
_LONGEST_EXCERPT = 200


class Lines(NamedTuple):
    """A file in lines.

    Attributes:
        path: the file, spelt as the user spells it.
        lines: its lines; none where it can't be read, or is larger than any profile.
        comments: line and column of the comments in it that are for htppower.
    """

    path: str
    lines: tuple[str, ...]
    comments: tuple[tuple[int, int], ...]

    @property
    def look_ours(self) -> bool:
        """Whether a line begins with a key that only a profile or power state has at its top."""
        return any(line.partition(":")[0].strip("-\"' ") in KEYS for line in self.lines)

    def excerpt(self, line: int, column: int) -> tuple[str, int]:
        """Return a line, or the part of it around a column where it is very long, and the column within that."""
        if not 0 < line <= len(self.lines):
            return "", column
        text = self.lines[line - 1]
        if len(text) <= _LONGEST_EXCERPT:
            return text, column
        start = max(0, column - 1 - _LONGEST_EXCERPT // 2)
        return text[start : start + _LONGEST_EXCERPT], column - start


def read_lines(path: str, given: bytes | None = None) -> Lines:
    """Return the lines of a file, or of what is ``given`` in its place."""
    data = given or b""
    with contextlib.suppress(OSError, ValueError):
        data = read_regular_file(path) if given is None else given
    if not data or len(data) > LARGEST_FILE_BYTES:
        return Lines(path, (), ())
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    # Most files need no pattern, which takes long to compile.
    plain = text.isascii() and "\r" not in text
    lines = tuple(text.split("\n") if plain else re.split(LINE_BREAK, text))
    return Lines(path, lines, tuple(comments_for_htppower(text, lines)))


def comment_at(line: str, start: int) -> re.Match[str] | None:
    """Return the comment for htppower that begins at a 0-based column of a line; what it says is in the group."""
    return re.compile(_COMMENT, re.IGNORECASE).match(line, start)


def comments_for_htppower(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the 1-based line and column of the comments that are for htppower, and are no part of a value.

    No more are read than a file may have values.
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
        # Most files need no pattern, which takes long to compile.
        for match in re.finditer(_BEGIN, line, re.IGNORECASE) if "htppower" in line.lower() else ():
            yield number, match.start() + 1


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

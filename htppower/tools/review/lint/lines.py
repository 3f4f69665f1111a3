"""The lines of a file, and the comments for htppower in it, since YAML itself keeps no comments."""

import codecs
import contextlib
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from htppower.profiles.extends import KEYS
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, read_regular_file
from htppower.profiles.strict_yaml import MOST_VALUES

# Annotations are not postponed here: a named tuple would compile each of its types anew, which slows the start.

# The group holds the text of the comment. A comment that only mentions htppower has no colon and disables nothing.
_COMMENT = r"#+\s*htppower(?P<said>\s*:.*|\s+(?:disable|until|because)\b.*)$"
# The beginning of such a comment. A search for it checks each run of # once, however many there are.
_BEGIN = r"(?:^|(?<=\s))#(?=#*\s*htppower(?:\s*:|\s+(?:disable|until|because)\b))"

# A place after the end of every file.
_END = (sys.maxsize, 0)
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LINE_BREAK = r"\r\n|[\n\r\x85\u2028\u2029]"
# The report repeats the line for every finding on it, so a longer excerpt does not help.
_LONGEST_EXCERPT = 200


class Lines(NamedTuple):
    """A file in lines.

    Attributes:
        path: the file, as the user wrote it.
        lines: its lines; none if it can't be read, or is larger than any profile.
        comments: line and column of the comments for htppower in it.
    """

    path: str
    lines: tuple[str, ...]
    comments: tuple[tuple[int, int], ...]

    @property
    def look_ours(self) -> bool:
        """Whether a line begins with a key that only a profile or power state has at its top."""
        return any(line.partition(":")[0].strip("-\"' ") in KEYS for line in self.lines)

    def excerpt(self, line: int, column: int) -> tuple[str, int]:
        """Return a line, or the part of it around a column if it is very long, and the column within that."""
        if not 0 < line <= len(self.lines):
            return "", column
        text = self.lines[line - 1]
        if len(text) <= _LONGEST_EXCERPT:
            return text, column
        start = max(0, column - 1 - _LONGEST_EXCERPT // 2)
        return text[start : start + _LONGEST_EXCERPT], column - start


def read_lines(path: str, given: bytes | None = None) -> Lines:
    """Return the lines of a file, or of the content ``given`` instead of it."""
    data = given or b""
    with contextlib.suppress(OSError, ValueError):
        data = read_regular_file(path) if given is None else given
    if not data or len(data) > LARGEST_FILE_BYTES:
        return Lines(path, (), ())
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    # The pattern takes long to compile, and most files can be split without it.
    plain = text.isascii() and "\r" not in text
    lines = tuple(text.split("\n") if plain else re.split(LINE_BREAK, text))
    return Lines(path, lines, tuple(comments_for_htppower(text, lines)))


def comment_at(line: str, start: int) -> re.Match[str] | None:
    """Return the comment for htppower that begins at a 0-based column of a line. The group holds its text."""
    return re.compile(_COMMENT, re.IGNORECASE).match(line, start)


def comments_for_htppower(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the 1-based line and column of the comments for htppower that are not part of a value.

    At most as many are read as a file may have values.
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
    """Yield the places where a comment for htppower begins, unless a value holds it."""
    for number, line in enumerate(lines, 1):
        # The pattern takes long to compile, and most files can be split without it.
        for match in re.finditer(_BEGIN, line, re.IGNORECASE) if "htppower" in line.lower() else ():
            yield number, match.start() + 1


def _values(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the start and end of every plain key and value, as far as the text is YAML that can be a profile."""
    try:
        scalars = (event for event in yaml.parse(text, Loader=_LOADER) if isinstance(event, yaml.ScalarEvent))
        for event in itertools.islice(scalars, 2 * MOST_VALUES):
            start, end = event.start_mark, event.end_mark
            if start is not None and end is not None:
                yield (start.line + 1, start.column + 1), (end.line + 1, end.column + 1)
    except yaml.YAMLError:
        return

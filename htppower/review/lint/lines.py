"""The lines of a file, for showing them, and the comments in it that are for htppower."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.strict_yaml import LARGEST_FILE_BYTES
from htppower.review.lint.comments import comments_for_htppower

if TYPE_CHECKING:
    from pathlib import Path as FilePath

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
# More of a line than that helps nobody, and would stand in the report for every finding on it.
_LONGEST_EXCERPT = 200


@attrs.frozen(repr=False, eq=False)
class Lines:
    """A file in lines.

    Attributes:
        path: the file, spelt as the user spells it.
        lines: its lines; none where it can't be read, or is larger than any profile.
        comments: line and column of the comments in it that are for htppower.
    """

    path: FilePath
    lines: tuple[str, ...]
    comments: tuple[tuple[int, int], ...]

    def excerpt(self, line: int, column: int) -> tuple[str, int]:
        """Return a line, or the part of it around a column where it is very long, and the column within that."""
        if not 0 < line <= len(self.lines):
            return "", column
        text = self.lines[line - 1]
        if len(text) <= _LONGEST_EXCERPT:
            return text, column
        start = max(0, column - 1 - _LONGEST_EXCERPT // 2)
        return text[start : start + _LONGEST_EXCERPT], column - start


def _read(path: FilePath) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_FILE_BYTES + 1)


def read_lines(path: FilePath) -> Lines:
    """Return the lines of a file."""
    try:
        # A pipe would be waited for without end.
        data = _read(path) if path.is_file() else b""
    except (OSError, ValueError):
        data = b""
    if not data or len(data) > LARGEST_FILE_BYTES:
        return Lines(path, (), ())
    text = data.decode("utf-8-sig", "replace")
    lines = tuple(_LINE_BREAK.split(text))
    return Lines(path, lines, tuple(comments_for_htppower(text, lines)))

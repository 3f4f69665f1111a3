"""A profiler's file: its lines as text, or its whole content."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.limits import JSON_BYTES, LINES, TooMuch, check_json, raised
from htppower.tools.readers.opening import LONGEST_LINE, OpenFile

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUFFER_BYTES = 65_536
_SAVE_AS_TEXT = "save it as UTF-8 text"


class Source(OpenFile):
    """A profiler's file that is open for reading."""

    @property
    def is_text(self) -> bool:
        """Whether it looks like text."""
        return b"\0" not in self.head

    def lines(self) -> Iterator[str]:
        """Yield the lines, without their line ends.

        Raises:
            UnreadableFile: a line is not UTF-8, or too long.
            TooMuch: it has too many lines.
        """
        most = raised(LINES)
        reader = self.from_begin(_BUFFER_BYTES)
        for self.line in itertools.count(1):
            line = reader.readline(LONGEST_LINE)
            if not line:
                return
            if self.line > most:
                raise TooMuch(f"has more than {most} lines")
            if len(line) == LONGEST_LINE:
                raise self.wrong(f"the line is longer than {LONGEST_LINE} bytes", "name a file of a profiler")
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, error.start + 1) from None

    def content(self) -> bytes:
        """Return the whole content as bytes.

        Raises:
            TooMuch: it is too large.
        """
        most = raised(JSON_BYTES)
        content = self.from_begin(_BUFFER_BYTES).read(most + 1)
        if len(content) > most:
            raise TooMuch(f"is larger than {most // 2**20} MiB")
        return content

    def whole(self) -> str:
        """Return the whole content, which is JSON.

        Raises:
            UnreadableFile: it is not UTF-8.
            TooMuch: it is too large, or holds too many values.
        """
        content = self.content()
        check_json(content)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.line = content.count(b"\n", 0, error.start) + 1
            column = error.start - content.rfind(b"\n", 0, error.start)
            raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, column) from None

    def wrong(self, message: str, hint: str = "", column: int = 1) -> UnreadableFile:
        """Return an error about the line that was read last."""
        return UnreadableFile(self.path, f"{self.line}:{column}", message, hint)

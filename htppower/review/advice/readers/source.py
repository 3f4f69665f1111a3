"""A profiler's file as a stream: its first bytes to recognise it by, then its lines, or the whole of it."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import zlib
from typing import IO, TYPE_CHECKING

from htppower.profiles.regular_file import NotRegular, open_regular
from htppower.review.advice.measurement import UnreadableMeasurement
from htppower.tuning.traces.readers.joined import Joined

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD_BYTES = 65_536
# RFC 1952.
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
# A file that is read as a whole may be this large; those that grow without end are read line by line.
_LARGEST_WHOLE = 512 * 2**20
# No line of a profiler is longer, so what is longer is none.
_LONGEST_LINE = 2**20
# What a file says that is cut off, or has other bytes than were packed.
_DAMAGED = (OSError, EOFError, zlib.error)
_SAVE_AS_TEXT = "save it as UTF-8 text"


class Source:
    """A file that is open for reading.

    Attributes:
        path: as the user named it.
        head: its first bytes.
        line_number: the line that was read last, from 1.
    """

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self.path = path
        self.line_number = 0
        self._stream = stream
        self.head = stream.read(_HEAD_BYTES)

    @property
    def is_text(self) -> bool:
        """Whether it looks like text."""
        return b"\0" not in self.head

    def lines(self) -> Iterator[str]:
        """Yield the lines, without their ends.

        Raises:
            UnreadableMeasurement: a line is no UTF-8, or too long.
        """
        reader = io.BufferedReader(Joined(self.head.removeprefix(_BOM), self._stream), _HEAD_BYTES)
        for self.line_number in itertools.count(1):
            line = reader.readline(_LONGEST_LINE)
            if not line:
                return
            if len(line) == _LONGEST_LINE:
                raise self.wrong(f"the line is longer than {_LONGEST_LINE} bytes", "name a file of a profiler")
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise self.wrong("is no UTF-8", _SAVE_AS_TEXT, error.start + 1) from None

    def content(self) -> bytes:
        """Return all of it as bytes.

        Raises:
            UnreadableMeasurement: it is too large.
        """
        content = self.head + self._stream.read(_LARGEST_WHOLE)
        if len(content) > _LARGEST_WHOLE:
            raise UnreadableMeasurement(self.path, "", f"is larger than {_LARGEST_WHOLE // 2**20} MiB", "profile less")
        return content

    def whole(self) -> str:
        """Return all of it.

        Raises:
            UnreadableMeasurement: it is no UTF-8, or too large.
        """
        content = self.content().removeprefix(_BOM)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.line_number = content.count(b"\n", 0, error.start) + 1
            column = error.start - content.rfind(b"\n", 0, error.start)
            raise self.wrong("is no UTF-8", _SAVE_AS_TEXT, column) from None

    def wrong(self, message: str, hint: str = "", column: int = 1) -> UnreadableMeasurement:
        """Return the error of something in the line that was read last."""
        return UnreadableMeasurement(self.path, f"{self.line_number}:{column}", message, hint)


@contextlib.contextmanager
def opened(path: str, standard_input: IO[bytes] | None = None) -> Iterator[Source]:
    """Yield a file, unpacked where it is packed with gzip; ``standard_input`` in place of the path ``-``.

    Raises:
        UnreadableMeasurement: it can't be read, or is empty.
    """
    with contextlib.ExitStack() as stack:
        try:
            plain = standard_input or stack.enter_context(open_regular(path, pipe=True))
            buffered = io.BufferedReader(Joined(b"", plain)) if isinstance(plain, io.RawIOBase) else plain
            packed = getattr(buffered, "peek", lambda _: b"")(2)[:2] == _GZIP
            stream = stack.enter_context(gzip.open(buffered)) if packed else buffered
            source = Source(path, stream)  # type: ignore[arg-type] # gzip's file is one of bytes
        except NotRegular as error:
            hint = "name a file in it" if os.path.isdir(path) else "name a file"
            raise UnreadableMeasurement(path, "", f"is {error}", hint) from None
        except FileNotFoundError as error:
            raise UnreadableMeasurement(path, "", f"can't be read: {error.strerror}", "check the path") from None
        except _DAMAGED as error:
            raise _damaged(path, "can't be read", error) from None
        except ValueError as error:
            raise UnreadableMeasurement(path, "", f"is no path: {error}", "check the path") from None
        if not source.head.strip():
            raise UnreadableMeasurement(path, "", "is empty", "profile at least one inference")
        try:
            yield source
        except _DAMAGED as error:
            raise _damaged(path, "can't be read to its end", error) from None


def _damaged(path: str, what: str, error: Exception) -> UnreadableMeasurement:
    said = getattr(error, "strerror", None) or str(error)
    hint = "check its permissions" if isinstance(error, PermissionError) else "copy it again"
    return UnreadableMeasurement(path, "", f"{what}: {said}", hint)

"""A profiler's file as a stream: its first bytes, which show its kind, then its lines or its whole content."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import zlib
from typing import IO, TYPE_CHECKING, Any

from htppower.profiles.regular_file import NotRegular, open_regular
from htppower.tools.review.advice.measurement import UnreadableMeasurement
from htppower.tools.tuning.reading_limits import JSON_BYTES, LINES, TooMuch, check_json, raised
from htppower.tools.tuning.traces.readers.joined import Joined
from htppower.tools.tuning.traces.readers.unpacked import GZIP, Counted, Unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEAD_BYTES = 65_536
_BOM = b"\xef\xbb\xbf"
_PART_BYTES = 2**20
# Packed bytes are read in small parts, to notice early if they unpack to far too many.
_PACKED_BYTES = 2**14
# No profiler writes longer lines.
_LONGEST_LINE = 2**20
# Raised if a packed file is cut off, or was changed after packing.
_DAMAGED = (OSError, EOFError, zlib.error)
_SAVE_AS_TEXT = "save it as UTF-8 text"


class Source:
    """A file that is open for reading.

    Attributes:
        path: the path, as the user named it.
        head: its first bytes.
        line_number: the number of the line that was read last, from 1.
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
        """Yield the lines, without their line ends.

        Raises:
            UnreadableMeasurement: a line is not UTF-8, or too long.
            TooMuch: it has too many lines.
        """
        most = raised(LINES)
        reader = io.BufferedReader(Joined(self.head.removeprefix(_BOM), self._stream), _HEAD_BYTES)
        for self.line_number in itertools.count(1):
            line = reader.readline(_LONGEST_LINE)
            if not line:
                return
            if self.line_number > most:
                raise TooMuch(f"has more than {most} lines")
            if len(line) == _LONGEST_LINE:
                raise self.wrong(f"the line is longer than {_LONGEST_LINE} bytes", "name a file of a profiler")
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, error.start + 1) from None

    def content(self) -> bytes:
        """Return the whole content as bytes.

        Raises:
            TooMuch: it is too large.
        """
        content = bytearray(self.head)
        most = raised(JSON_BYTES)
        while len(content) <= most and (part := self._stream.read(_PART_BYTES)):
            content += part
        if len(content) > most:
            raise TooMuch(f"is larger than {most // 2**20} MiB")
        return bytes(content)

    def whole(self) -> str:
        """Return the whole content, which is JSON.

        Raises:
            UnreadableMeasurement: it is not UTF-8.
            TooMuch: it is too large, or holds too many values.
        """
        content = self.content().removeprefix(_BOM)
        check_json(content)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.line_number = content.count(b"\n", 0, error.start) + 1
            column = error.start - content.rfind(b"\n", 0, error.start)
            raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, column) from None

    def wrong(self, message: str, hint: str = "", column: int = 1) -> UnreadableMeasurement:
        """Return an error about the line that was read last."""
        return UnreadableMeasurement(self.path, f"{self.line_number}:{column}", message, hint)


@contextlib.contextmanager
def opened(
    path: str, standard_input: IO[bytes] | None = None, progress: Callable[[int], None] = lambda _: None
) -> Iterator[Source]:
    """Yield a file, unpacked if it is packed with gzip. For the path ``-``, yield ``standard_input``.

    ``progress`` is called with the number of bytes that were read, packed as they are in the file.

    Raises:
        UnreadableMeasurement: it can't be read, is empty, or holds more than may be read.
    """
    with contextlib.ExitStack() as stack:
        try:
            plain = standard_input or stack.enter_context(open_regular(path, pipe=True))
            counted = Counted(plain, progress)
            stream: io.BufferedReader[Any] = io.BufferedReader(counted, _PACKED_BYTES)
            if stream.peek(len(GZIP))[: len(GZIP)] == GZIP:
                stream = io.BufferedReader(stack.enter_context(contextlib.closing(Unpacked(stream, counted))))
            source = Source(path, stream)
        except NotRegular as error:
            hint = "name a file in it" if os.path.isdir(path) else "name a file"
            raise UnreadableMeasurement(path, "", f"is {error}", hint) from None
        except FileNotFoundError as error:
            raise UnreadableMeasurement(path, "", f"can't be read: {error.strerror}", "check the path") from None
        except _DAMAGED as error:
            raise _damaged(path, "can't be read", error) from None
        except ValueError as error:
            raise UnreadableMeasurement(path, "", f"is not a path: {error}", "check the path") from None
        if not source.head.strip():
            raise UnreadableMeasurement(path, "", "is empty", "profile at least one inference")
        try:
            yield source
        except _DAMAGED as error:
            raise _damaged(path, "can't be read to its end", error) from None
        except TooMuch as error:
            raise UnreadableMeasurement(path, "", error.message, error.hint) from None


def _damaged(path: str, what: str, error: Exception) -> UnreadableMeasurement:
    said = getattr(error, "strerror", None) or str(error)
    hint = "check its permissions" if isinstance(error, PermissionError) else "copy it again"
    return UnreadableMeasurement(path, "", f"{what}: {said}", hint)

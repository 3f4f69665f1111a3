"""The bytes of a file, counted as they are read, and unpacked if they are packed with gzip, up to a limit."""

from __future__ import annotations

import gzip
import io
from typing import IO, TYPE_CHECKING

from htppower.tools.tuning.reading_limits import UNPACKED_FREE_BYTES, UNPACKED_TIMES, TooMuch, raised

if TYPE_CHECKING:
    from collections.abc import Callable

# RFC 1952.
GZIP = b"\x1f\x8b"


class Counted(io.RawIOBase):
    """A stream that counts and reports the bytes that are read from it.

    Attributes:
        count: how many bytes were read.
    """

    def __init__(self, stream: IO[bytes] | io.RawIOBase, tell: Callable[[int], None] = lambda _: None) -> None:
        self.count = 0
        self._stream = stream
        self._tell = tell

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
        """Read into a buffer; return how many bytes, 0 at the end."""
        part = self._stream.read(len(buffer)) or b""
        buffer[: len(part)] = part
        self.count += len(part)
        self._tell(len(part))
        return len(part)


class Unpacked(io.RawIOBase):
    """The unpacked content of a gzip file.

    Attributes:
        is_cut: whether the file ended before the mark of its end.
    """

    def __init__(self, packed: IO[bytes], counted: Counted, *, may_be_cut: bool = False) -> None:
        self.is_cut = False
        self._file = gzip.GzipFile(fileobj=packed)
        self._counted = counted
        self._may_be_cut = may_be_cut
        self._size = 0
        self._times = raised(UNPACKED_TIMES)
        self._free = raised(UNPACKED_FREE_BYTES)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
        """Read into a buffer; return how many bytes, 0 at the end.

        Raises:
            EOFError: the file is cut off, and ``may_be_cut`` is False.
            TooMuch: the file unpacks to far more than a real trace does.
        """
        try:
            part = self._file.read1(len(buffer))
        except EOFError:
            if not self._may_be_cut:
                raise
            self.is_cut = True
            return 0
        self._size += len(part)
        if self._size > self._free + self._times * self._counted.count:
            raise TooMuch(f"is packed with gzip, and unpacks to more than {self._times} times its size")
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the unpacker; the packed stream stays open."""
        self._file.close()
        super().close()

"""Opens a file of a user: counts its bytes, unpacks gzip up to a limit, and reads the first bytes ahead."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, TypeVar

from htppower.errors.root import UnreadableFile
from htppower.profiles.regular_file import NotRegular, open_regular
from htppower.tools.readers.limits import UNPACKED_FREE_BYTES, UNPACKED_TIMES, TooMuch, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOM = b"\xef\xbb\xbf"
# A longer line is refused, or read in several pieces, so that a file of one line does not fill the memory.
LONGEST_LINE = 2**20
# RFC 1952.
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 65_536
# Packed bytes are read in small parts, so that a file that unpacks to far too much is noticed early.
_PACKED_BYTES = 2**14
# Raised if a file can't be read on, or if a packed file is cut off or was changed.
_DAMAGED = (NotRegular, OSError, EOFError, zlib.error)


class OpenFile:
    """A file that is open for reading. Each kind of reader has a subclass.

    Attributes:
        IN_FOLDER: what to do if the path is a folder.
        IF_EMPTY: what to do if the file is empty.
        MAY_BE_CUT: whether a packed file that is cut off is read as far as it goes.
        path: the path that the user gave.
        head: the first bytes.
        line: the number of the line that was read last, from 1.
    """

    IN_FOLDER: ClassVar[str] = "name a file in it"
    IF_EMPTY: ClassVar[str] = "profile at least one inference"
    MAY_BE_CUT: ClassVar[bool] = False

    def __init__(self, path: str, stream: IO[bytes], packed: Unpacked | None = None) -> None:
        self.path = path
        self.line = 0
        self._packed = packed
        self._stream = stream
        self.head = stream.read(_HEAD_BYTES).removeprefix(BOM)

    @property
    def is_cut(self) -> bool:
        """Whether the file was cut off; this is known only of packed files, which have a mark at their end."""
        return self._packed is not None and self._packed.is_cut

    @classmethod
    def error(cls, path: str, message: str, hint: str) -> UnreadableFile:
        """Return an error about a file as a whole."""
        return UnreadableFile(path, "", message, hint)

    def from_begin(self, buffer_bytes: int) -> io.BufferedReader:
        """Return a reader of the whole content, including the first bytes."""
        return io.BufferedReader(_Joined(self.head, self._stream), buffer_bytes)


_OpenFile = TypeVar("_OpenFile", bound=OpenFile)


def open_given(path: str) -> io.FileIO:
    """Open a file that the user gave. It may be a link or a pipe."""
    return open_regular(path, pipe=True)


@contextlib.contextmanager
def opened(
    path: str,
    kind: type[_OpenFile],
    stream: IO[bytes] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    open_path: Callable[[str], io.RawIOBase] = open_given,
) -> Iterator[_OpenFile]:
    """Open a file, which may be packed with gzip.

    Args:
        path: the file.
        kind: the class of the open file.
        stream: is read instead of the file.
        progress: is called with the number of bytes after each read, before unpacking.
        open_path: opens the path.

    Raises:
        UnreadableFile: the file can't be read, is empty, or holds more than may be read.
    """
    with contextlib.ExitStack() as stack:
        try:
            raw = stream or stack.enter_context(contextlib.closing(open_path(path)))
            counted = _Counted(raw, progress)
            buffered = io.BufferedReader(counted, _PACKED_BYTES)
            packed = None
            if buffered.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
                packed = stack.enter_context(contextlib.closing(Unpacked(buffered, counted, kind.MAY_BE_CUT)))
            source = kind(path, buffered if packed is None else io.BufferedReader(packed), packed)
        except _DAMAGED as error:
            raise _unreadable(path, kind, "can't be read", error) from None
        except TooMuch as error:
            raise kind.error(path, error.message, error.hint) from None
        except UnreadableFile:
            raise
        except ValueError as error:
            raise kind.error(path, f"is not a path: {error}", "check the path") from None
        if not source.head.strip():
            raise kind.error(path, "is empty", kind.IF_EMPTY)
        try:
            yield source
        except _DAMAGED as error:
            raise _unreadable(path, kind, "can't be read to its end", error) from None
        except TooMuch as error:
            raise kind.error(path, error.message, error.hint) from None


def _unreadable(path: str, kind: type[OpenFile], what: str, error: Exception) -> UnreadableFile:
    said = getattr(error, "strerror", None) or str(error)
    if isinstance(error, NotRegular):
        return kind.error(path, f"is {said}", kind.IN_FOLDER if Path(path).is_dir() else "name a file")
    hint = "copy it again"
    if isinstance(error, FileNotFoundError):
        hint = "check the path"
    elif isinstance(error, PermissionError):
        hint = "check its permissions"
    return kind.error(path, f"{what}: {said}", hint)


class _Counted(io.RawIOBase):
    """A stream that counts and reports the bytes that are read from it."""

    def __init__(self, stream: IO[bytes] | io.RawIOBase, tell: Callable[[int], None]) -> None:
        self.count = 0
        self._stream = stream
        self._tell = tell

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
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

    def __init__(self, packed: IO[bytes], counted: _Counted, may_be_cut: bool) -> None:
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
            TooMuch: the file unpacks to far more than a real one does.
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


class _Joined(io.RawIOBase):
    """Some bytes, followed by a stream."""

    def __init__(self, first: bytes, then: IO[bytes]) -> None:
        self._first = memoryview(first)
        self._then = then

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
        # A non-blocking file returns None if there is nothing to read yet.
        part = self._first[: len(buffer)] or self._then.read(len(buffer)) or b""
        self._first = self._first[len(part) :] if self._first else self._first
        buffer[: len(part)] = part
        return len(part)

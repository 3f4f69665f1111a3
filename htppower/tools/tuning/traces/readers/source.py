"""Reads the lines of a trace file, which may be packed with gzip, or split into parts."""

from __future__ import annotations

import functools
import io
import itertools
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from htppower.errors import TraceError
from htppower.profiles.regular_file import open_regular
from htppower.tools.readers import opening
from htppower.tools.readers.limits import INFERENCES, Room
from htppower.tools.readers.opening import LONGEST_LINE, OpenFile, Unpacked

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterator, Sequence

    from htppower.tools.readers.opening import Unpacked

_BATCH_BYTES = 2**20
# ``split`` appends letters to a name (aa, ab, ...) or, with -d, digits (00, 01, ...).
_PART = re.compile(r"(?P<whole>.+\.(?:json|csv|txt|gz))(?P<part>[a-z]{2,4}|[0-9]{2,4})", re.DOTALL)


class Source(OpenFile):
    """A trace file that is open for reading; the parts of a split file count as one file.

    Attributes:
        line_ended: whether that line has a line end; only the last line of a file may lack it.
        notes: what was left out so far, and why.
        room: how many more inferences may be read.
    """

    IN_FOLDER: ClassVar[str] = "give a file in it; htppower tune --fleet reads a folder"
    IF_EMPTY: ClassVar[str] = "record at least one inference"
    MAY_BE_CUT: ClassVar[bool] = True

    def __init__(self, path: str, stream: IO[bytes], packed: Unpacked | None = None) -> None:
        super().__init__(path, stream, packed)
        self.line_ended = True
        self.notes: list[str] = []
        self.room = Room(INFERENCES, "inferences")

    @classmethod
    def error(cls, path: str, message: str, hint: str) -> TraceError:
        """Return an error about a file as a whole."""
        return TraceError(path, 0, message, hint)

    def pieces(self) -> Iterator[bytes]:
        """Yield the lines with their ends; yield a line beyond ``LONGEST_LINE`` bytes in parts."""
        for batch in self.batches():
            yield from self.lines(batch)

    def batches(self) -> Iterator[bytes]:
        """Yield the content in batches of whole lines, of about 1 MiB each."""
        reader = self.from_begin(_BATCH_BYTES)
        rest = reader.read(len(self.head))
        while True:
            end = rest.rfind(b"\n") + 1
            # A line that is longer than a batch is yielded in parts.
            if not end and len(rest) >= LONGEST_LINE:
                end = len(rest)
            if end:
                yield rest[:end]
            more = reader.read(_BATCH_BYTES)
            rest = rest[end:] + more
            if not more:
                break
        if rest:
            yield rest
        if self.is_cut:
            self.notes.append("the packed file is cut off: it was read as far as it goes")

    def lines(self, batch: bytes) -> Iterator[bytes]:
        """Yield the lines of a batch with their ends, a long line in parts, and count them."""
        read = io.BytesIO(batch).readline
        while piece := read(LONGEST_LINE):
            if self.line_ended:
                self.line += 1
            self.line_ended = piece.endswith(b"\n")
            yield piece

    def wrong(self, message: str, hint: str = "", *, line: int | None = None) -> TraceError:
        """Return an error in the line that was read last, or in another line; 0 is the whole file."""
        return TraceError(self.path, self.line if line is None else line, message, hint)


class _Chained(io.RawIOBase):
    """The bytes of several files, one after the other."""

    def __init__(self, paths: Sequence[Path], open_part: Callable[[Path], IO[bytes]]) -> None:
        self._left = list(paths)
        self._open = open_part
        self._file: IO[bytes] | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
        while self._file is not None or self._left:
            if self._file is None:
                self._file = self._open(self._left.pop(0))
            part = self._file.read(len(buffer))
            if part:
                buffer[: len(part)] = part
                return len(part)
            self._file.close()
            self._file = None
        return 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


def opened(
    path: str,
    stream: IO[bytes] | None = None,
    within: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> contextlib.AbstractContextManager[Source]:
    """Open a trace file.

    If the file was split, ``path`` may be any of its parts. A path that the user gave may be a link or a pipe.

    Args:
        path: the file.
        stream: is read instead of the file.
        within: the folder that was searched for the file; no link may lead out of it. None: the user gave the path.
        progress: is called with the number of bytes after each read, before unpacking.

    Raises:
        TraceError: the file can't be read, is empty, holds more than may be read, or one of its parts is missing.
    """
    return opening.opened(path, Source, stream, progress, functools.partial(_stream_of, within=within))


def _stream_of(path: str, within: str | None) -> io.RawIOBase:
    """Open a file, or all its parts as one stream. The other parts must be in the folder of the named file."""
    named = Path(path)

    def open_part(part: Path) -> io.FileIO:
        is_named = within is None and part == named
        return open_regular(part, within=None if is_named else within or named.parent, pipe=is_named)

    paths = parts_of(path)
    return _Chained(paths, open_part) if len(paths) > 1 else open_part(paths[0])


def parts_of(path: str) -> list[Path]:
    """Return the files that make up a trace: the file, or all its parts if the path is a part or a split file.

    Raises:
        TraceError: a part before or between others is missing.
    """
    named = Path(path)
    of_part = _PART.fullmatch(named.name)
    if of_part is None and named.exists():
        return [named]
    whole = named.name if of_part is None else of_part["whole"]
    beside = {each.name: each for each in (named.parent.iterdir() if named.parent.is_dir() else ())}
    found = {name: part["part"] for name in beside if (part := _PART.fullmatch(name)) and part["whole"] == whole}
    pattern = of_part["part"] if of_part is not None else min(found.values(), default="")
    parts = sorted(name for name, part in found.items() if _alike(part, pattern))
    if len(parts) < 2 and pattern[:1] not in ("a", "0"):  # noqa: PLR2004 - a split file has several parts
        return [named]  # a single file whose name happens to end like a part
    for suffix, name in zip(_suffixes(pattern), parts, strict=False):
        if name != f"{whole}{suffix}":
            missing = str(named.parent / f"{whole}{suffix}")
            raise TraceError(missing, 0, "is missing", "a trace in parts needs all of them")
    return [beside[name] for name in parts] or [named]


def _alike(part: str, other: str) -> bool:
    return len(part) == len(other) and part.isdigit() == other.isdigit()


def _suffixes(like: str) -> Iterator[str]:
    """Yield the suffixes that ``split`` appends, in order, with the length and the kind of ``like``."""
    characters = "0123456789" if like.isdigit() else "abcdefghijklmnopqrstuvwxyz"
    return ("".join(each) for each in itertools.product(characters, repeat=len(like)))

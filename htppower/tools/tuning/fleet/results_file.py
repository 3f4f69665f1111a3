"""A file with the answers so far: a line of JSON is appended for each trace file, so it survives any interruption.

A line is used again if the path, the size and the time of the last change of its file are the same, and the question
and the version are the same. If a line is broken, as the last line of a killed run may be, its file is read again.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import IO, TYPE_CHECKING, Any

from htppower._version import __version__
from htppower.tools.tuning.fleet.records import FileGaps, FleetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from htppower.tools.tuning.fleet.records import Question, TraceFile

_FLAGS = ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK")
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | sum(getattr(os, name, 0) for name in _FLAGS)
# An answer takes a few kilobytes; the path and notes may add to them.
_LONGEST_LINE = 2**20
_HEADER = {"htppower": "gaps of a fleet", "format_version": 1}


class ResultsFile:
    """The answers in a file, which grows with each chunk.

    Attributes:
        found: the answers that the file had, by trace file.
        broken: how many lines were not answers.
    """

    def __init__(self, path: Path, question: Question, descriptor: int) -> None:
        # Another version may learn in another way, so its answers are not mixed with ours.
        self._asked = json.loads(json.dumps({"version": __version__, **question.as_json()}))
        self._descriptor = descriptor
        self.found: dict[TraceFile, FileGaps] = {}
        self.broken = 0
        self._before = b""
        with open(descriptor, "rb", closefd=False) as file:
            header = file.readline(_LONGEST_LINE)
            if not header.endswith(b"\n") and _line(_HEADER).startswith(header):
                os.ftruncate(descriptor, 0)  # the file is new, or the first run ended while writing the header
                self._write(_line(_HEADER))
                return
            if _parsed(header) != _HEADER:
                raise FleetError(f"{path}: is not a results file of a fleet; give another output, or move the file")
            for line in _lines(file):
                self._take(line)
            file.seek(-1, os.SEEK_END)
            self._before = b"" if file.read(1) == b"\n" else b"\n"

    def _take(self, line: bytes) -> None:
        try:
            kept = _parsed(line)
            answer = FileGaps.from_json(kept["answer"])
            if kept["asked"] == self._asked:
                self.found[answer.file] = answer
        except (ValueError, KeyError, TypeError):
            self.broken += 1

    def keep(self, answers: Iterable[FileGaps]) -> None:
        """Append answers, in one write.

        Raises:
            OSError: the answers can't be written.
        """
        lines = [_line({"asked": self._asked, "answer": each.as_json()}) for each in answers]
        if lines:
            self._write(b"".join(lines))

    def _write(self, data: bytes) -> None:
        left = memoryview(self._before + data)
        self._before = b""
        while left:
            left = left[os.write(self._descriptor, left) :]


@contextlib.contextmanager
def results_file(path: Path, question: Question) -> Iterator[ResultsFile]:
    """Open a results file; it is created if it does not exist.

    Another user may have put a link or a pipe there, so the file must be a regular file.

    Raises:
        FleetError: the path is a link, or another kind of file.
        OSError: the file can't be read or written.
    """
    if path.is_symlink():
        raise FleetError(f"{path}: is a link, and results are not written through links; remove it")
    descriptor = os.open(path, _APPEND, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FleetError(f"{path}: is not a regular file; remove it")
        yield ResultsFile(path, question, descriptor)
    finally:
        os.close(descriptor)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines that are not empty. A line that is too long is split, and its parts are broken lines."""
    while line := file.readline(_LONGEST_LINE):
        if line.strip():
            yield line


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None

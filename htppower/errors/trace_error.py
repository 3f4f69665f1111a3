"""The errors of files that a user gives to be read: a trace, or what a profiler measured."""

from __future__ import annotations

from htppower.errors.finding import printable
from htppower.errors.root import HtpPowerError


class UnreadableFile(HtpPowerError, ValueError):  # noqa: N818 - the name states the fault
    """A file that can't be read.

    Attributes:
        path: the file.
        place: ``line`` or ``line:column`` in text, the path of keys in JSON; empty if it is the whole file.
        hint: what to do; may be empty.
    """

    def __init__(self, path: str, place: str, message: str, hint: str = "") -> None:
        self.path = path
        self.place = place
        self.hint = hint
        where = f"{path}:{place}" if place else path
        super().__init__(printable(f"{where}: {message}{f' ({hint})' if hint else ''}"))


class TraceError(UnreadableFile):
    """A trace file that can't be read or that has no inference.

    Attributes:
        path: the file.
        line: 1-based line, 0 for the file as a whole.
        hint: what to do; may be empty.
    """

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        self.line = line
        super().__init__(path, str(line) if line else "", message, hint)

"""The error of a trace file."""

from __future__ import annotations

from htppower.errors.finding import printable
from htppower.errors.root import HtpPowerError


class TraceError(HtpPowerError, ValueError):
    """A trace file that can't be read or that has no inference.

    Attributes:
        path: the file.
        line: 1-based line, 0 for the file as a whole.
        hint: what to do; may be empty.
    """

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        self.path = path
        self.line = line
        self.hint = hint
        where = f"{path}:{line}" if line else path
        super().__init__(printable(f"{where}: {message}{f' ({hint})' if hint else ''}"))

"""A stream whose first bytes were read already, to recognise the kind of file."""

from __future__ import annotations

import io
from typing import IO


class Joined(io.RawIOBase):
    """Some bytes, followed by a stream."""

    def __init__(self, first: bytes, then: IO[bytes]) -> None:
        self._first = memoryview(first)
        self._then = then

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed has any buffer
        """Read into a buffer; return how many bytes, 0 at the end."""
        # A non-blocking file returns None if there is nothing to read yet.
        part = self._first[: len(buffer)] or self._then.read(len(buffer)) or b""
        self._first = self._first[len(part) :] if self._first else self._first
        buffer[: len(part)] = part
        return len(part)

"""Keeps the vendor's library from printing into the command's own output."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@contextlib.contextmanager
def kept_off_stdout() -> Iterator[int]:
    """Redirect the standard output of C code to the standard error; yield the standard output's descriptor.

    The library prints a line when it is loaded, into C's buffer, which reaches a pipe only at the end. Until then
    Python must print nothing.
    """
    _open_what_is_closed()
    if sys.stdout is not None:
        sys.stdout.flush()
    ours = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
        yield ours
    finally:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
        os.dup2(ours, _STDOUT)
        os.close(ours)


def _open_what_is_closed() -> None:
    """Open closed standard descriptors on the null device, so that no other file gets their numbers."""
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)

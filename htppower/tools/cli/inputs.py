"""The input of a command that is not a named file: its standard input."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO

import click

from htppower.profiles.regular_file import LARGEST_FILE_BYTES, note_opened

STANDARD_INPUT = "-"


def standard_input() -> bytes:
    """Return its content, up to a byte more than any file may have."""
    return standard_input_stream().read(LARGEST_FILE_BYTES + 1)


def standard_input_stream() -> IO[bytes]:
    """Return the standard input. If it is a file, no output may replace it.

    Raises:
        click.UsageError: it is closed.
    """
    if sys.stdin is None:
        raise click.UsageError("the standard input is closed")
    with contextlib.suppress(OSError, ValueError):
        note_opened(os.fstat(sys.stdin.fileno()))
    return sys.stdin.buffer

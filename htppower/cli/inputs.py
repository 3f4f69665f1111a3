"""What a command reads besides files: its standard input."""

from __future__ import annotations

import sys

import click

from htppower.profiles.regular_file import LARGEST_FILE_BYTES

STANDARD_INPUT = "-"


def standard_input() -> bytes:
    """Return what stands there, up to a byte more than any file may have."""
    if sys.stdin is None:
        raise click.UsageError("there is no standard input: it is closed")
    return sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1)

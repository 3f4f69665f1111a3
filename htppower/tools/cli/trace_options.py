"""The options for reading a trace file: ``--from``, ``--name``, ``--unit``, and the path ``-``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from htppower.tools.cli.help import WHAT, option
from htppower.tools.cli.inputs import STANDARD_INPUT, standard_input_stream

if TYPE_CHECKING:
    from collections.abc import Callable

# The same as in tuning/traces/read.py, which needs numpy.
KINDS = ("htppower", "loadgen", "onnxruntime", "chrome", "csv")
UNITS = ("s", "ms", "us", "ns")
_OPTIONS = (
    option(
        "--from",
        "kind",
        type=click.Choice(KINDS),
        group=WHAT,
        help="Read it as such a file.  [default: by its content]",
    ),
    option(
        "--name",
        metavar="NAME",
        group=WHAT,
        help="The name or category of the trace events that are inferences.  [default: the most plausible]",
    ),
    option(
        "--unit",
        type=click.Choice(UNITS),
        group=WHAT,
        help="The unit of a table's times if its columns do not name one.",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading a trace to a command: ``kind``, ``name`` and ``unit``."""
    for each in reversed(_OPTIONS):
        command = each(command)
    return command


def stream_of(file: str) -> IO[bytes] | None:
    """Return the standard input for the path ``-``; None for a file.

    Raises:
        click.UsageError: the standard input is closed.
    """
    return standard_input_stream() if file == STANDARD_INPUT else None

"""``htppower trace``: the content of a trace of inferences, in words and as a picture.

The commands that also read traces have the same options, and need the same extra of the package.
"""

from __future__ import annotations

import contextlib
from typing import IO, TYPE_CHECKING, Any

import click

from htppower.errors import HtpPowerError
from htppower.tools.cli.help import WHAT, Command, option
from htppower.tools.cli.options import STANDARD_INPUT, output_options, standard_input_stream
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.progress import shown_progress, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The same as in tuning/traces/read.py, which needs numpy.
KINDS = ("htppower", "loadgen", "onnxruntime", "chrome", "csv")
UNITS = ("s", "ms", "us", "ns")
# The same as in tools/review/tuning/trace_forms.py, which needs numpy.
_FORMS = ("text", "json", "html", "svg")
_FROM = option(
    "--from", "kind", type=click.Choice(KINDS), group=WHAT, help="Read it as such a file.  [default: by its content]"
)
_WITHIN = (
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


@contextlib.contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """If an import in the body fails, raise an error that names the extra to install.

    Raises:
        HtpPowerError: a module of another package can't be imported.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "htppower").partition(".")[0] == "htppower":
            raise
        raise HtpPowerError(f'{error.name} can\'t be imported: pip install "htppower[{extra}]"') from error


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading a trace to a command: ``kind``, ``name`` and ``unit``."""
    return _FROM(options_within(command))


def options_within(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading a trace whose kind is recognised to a command: ``name`` and ``unit``."""
    for each in reversed(_WITHIN):
        command = each(command)
    return command


def stream_of(file: str) -> IO[bytes] | None:
    """Return the standard input for the path ``-``; None for a file.

    Raises:
        click.UsageError: the standard input is closed.
    """
    return standard_input_stream() if file == STANDARD_INPUT else None


@click.command(name="trace", cls=Command, example="htppower trace trace.json --output svg=trace.svg")
@click.argument("file", type=click.Path(), metavar="FILE")
@reading_options
@output_options(_FORMS)
def command(
    file: str, kind: str | None, name: str | None, unit: str | None, form: str, outputs: tuple[tuple[str, str], ...]
) -> None:
    """Describe a trace of inferences: how long they and the gaps between them are, bursts, and a period.

    FILE is recognised by its content: a recording of htppower, LoadGen's mlperf_log_trace.json, a profile of ONNX
    Runtime, trace events in Chrome's format, or a table (CSV) with begin and end. It may be packed with gzip, or split
    into parts (.jsonaa, .jsonab); then name any part. The older parts of a recording (.1, .2) are read with it. The
    path - is the standard input.

    For each session it also shows how many inferences would find the votes up with a fixed sustain time, and how long
    the votes would be up in vain.

    Exit code 0: the file was read; 2: it can't be read.
    """
    with needs_extra("tune"):
        from htppower.tools.review.tuning.trace_forms import render  # noqa: PLC0415 - as above
        from htppower.tools.tuning.traces.describe import describe  # noqa: PLC0415 - numpy is not needed for a usage error
        from htppower.tools.tuning.traces.read import read_trace  # noqa: PLC0415 - as above

    with shown_progress() as progress:
        progress.begin(f"reading {file}", size_of(file))
        trace = read_trace(file, format=kind, name=name, unit=unit, stream=stream_of(file), progress=progress.add)
        progress.begin(f"describing {file}")
        described = describe(trace)
    document = write_outputs(outputs, form, lambda form, width: render(trace, described, form, width))
    print_document(document, form)

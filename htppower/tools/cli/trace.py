"""``htppower trace``: the content of a trace of inferences, in words and as a picture."""

from __future__ import annotations

import click

from htppower.tools.cli.extras import needs_extra
from htppower.tools.cli.help import Command
from htppower.tools.cli.options import GivenPath, output_options
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.progress import shown_progress, size_of
from htppower.tools.cli.trace_options import reading_options, stream_of

_FORMS = ("text", "json", "html", "svg")


@click.command(name="trace", cls=Command, example="htppower trace trace.json --output svg=trace.svg")
@click.argument("file", type=GivenPath(), metavar="FILE")
@reading_options
@output_options(_FORMS)
def command(
    file: str,
    kind: str | None,
    name: str | None,
    unit: str | None,
    form: str,
    outputs: tuple[tuple[str, str], ...],
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
        from htppower.tools.review.traces.forms import render  # noqa: PLC0415 - as above
        from htppower.tools.tuning.traces.describe import describe  # noqa: PLC0415 - numpy is not needed for a usage error
        from htppower.tools.tuning.traces.read import read_trace  # noqa: PLC0415 - as above

    with shown_progress() as progress:
        progress.begin(f"reading {file}", size_of(file))
        trace = read_trace(file, format=kind, name=name, unit=unit, stream=stream_of(file), progress=progress.add)
        progress.begin(f"describing {file}")
        described = describe(trace)
    document = write_outputs(outputs, form, lambda form, width: render(trace, described, form, width))
    print_document(document, form)

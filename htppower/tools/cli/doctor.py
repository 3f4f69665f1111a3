"""``htppower doctor``: whether votes can be sent here, and what to do if not."""

from __future__ import annotations

import json
from typing import Any

import click

from htppower.tools.cli.help import OUTPUT, Command, option
from htppower.tools.cli.measure import measure_options, measured, refuse_without_measure
from htppower.tools.cli.options import folders_option, format_option, library_option, soc_option
from htppower.tools.cli.terminal import echo, kept_off_stdout
from htppower.tools.doctor.diagnosis import diagnose
from htppower.tools.doctor.document import as_document
from htppower.tools.doctor.redaction import Redaction
from htppower.tools.doctor.report import blocks
from htppower.tools.report.as_markdown import as_markdown
from htppower.tools.report.as_text import as_text
from htppower.tools.report.layout import terminal_width

NOT_USABLE = 1


@click.command(name="doctor", cls=Command, example="htppower doctor --library /vendor/lib64/libQnnHtp.so")
@format_option(("text", "markdown", "json"))
@option("--redact", is_flag=True, group=OUTPUT, help="Leave out home folders, the user's name and the host's name.")
@measure_options
@library_option()
@soc_option("Make the device for this SoC; leave it out on a device.")
@folders_option("Also check the profiles in this folder; may be repeated.")
def command(
    form: str, redact: bool, library: str | None, soc: str | None, folders: tuple[str, ...], **measuring: Any
) -> None:
    """Check whether votes can be sent here, and what to do if not.

    If they can't, it begins with the most likely cause and the line to type. Then it shows which library is used, its
    platform, the facts of the machine, the errors of the vendor's log, which votes are accepted, and which profiles
    degrade.

    Harmless votes of every kind are sent, and reset. The exit code is 0 if votes are accepted, 1 if
    they are not.

    With --measure, it raises and lowers a profile many times instead, and prints how long each call takes, when the
    clock follows if it can be read, and what a missed vote costs an inference. The votes are lowered at the end.
    """
    if measuring["measure"]:
        echo(measured(form, {**measuring, "library": library, "soc": soc}))
        return
    refuse_without_measure()
    with kept_off_stdout():
        diagnosis = diagnose(library, soc, folders)
    document = as_document(diagnosis)
    if redact:
        document = Redaction(diagnosis.machine.user, diagnosis.machine.distribution).of(document)
    if form == "json":
        echo(json.dumps(document, indent=2))
    else:
        report = blocks(document)
        echo(as_markdown(report) if form == "markdown" else as_text(report, terminal_width()))
    click.get_current_context().exit(0 if diagnosis.usable else NOT_USABLE)

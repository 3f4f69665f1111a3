"""The parameters that several commands have: formats, files and folders; and the standard input."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from htppower.profiles.regular_file import LARGEST_FILE_BYTES, note_opened
from htppower.tools.cli import completion
from htppower.tools.cli.forms import FormAndFile
from htppower.tools.cli.help import DEVICE, OUTPUT, WHAT, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.cli.help import Decorator

# The sources of a value that is not from the command line: the default, or the configuration file.
_NOT_GIVEN = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
# The same as in platforms.py, which takes long to import.
SYSTEMS = ("android", "linux", "windows", "qnx")
STANDARD_INPUT = "-"


def format_option(names: Sequence[str]) -> Decorator:
    """Return ``--format`` as the parameter ``form``, by default ``text``."""
    meaning = "Print it in this form."
    return option(
        "--format", "form", type=click.Choice(names), default="text", show_default=True, group=OUTPUT, help=meaning
    )


def output_options(names: Sequence[str]) -> Decorator:
    """Return ``--format``, and ``--output`` as the parameter ``outputs``."""
    meaning = "Also write a file, in FORM or in the form of its suffix, whole or not at all; may be repeated."
    output = option("--output", "outputs", type=FormAndFile(names), multiple=True, group=OUTPUT, help=meaning)
    return lambda command: format_option(names)(output(command))


def force_option(meaning: str = "Overwrite an existing file that differs from what htppower wrote.") -> Decorator:
    """Return ``--force``."""
    return option("--force", is_flag=True, group=OUTPUT, help=meaning)


def library_option() -> Decorator:
    """Return ``--library``, the vendor's library to use instead of searching for one."""
    meaning = "Use this library of the vendor, and do not search for one."
    return option("--library", type=click.Path(), metavar="FILE", group=DEVICE, help=meaning)


def soc_option(meaning: str, group: str = DEVICE) -> Decorator:
    """Return ``--soc``, the name, part or model number of a SoC."""
    return option("--soc", metavar="NAME", group=group, shell_complete=completion.socs, help=meaning)


def arch_option(meaning: str, group: str = DEVICE) -> Decorator:
    """Return ``--arch``, a Hexagon architecture."""
    return option("--arch", metavar="ARCH", group=group, shell_complete=completion.architectures, help=meaning)


def refuse_library_with_simulated(options: dict[str, Any]) -> None:
    """Refuse ``--library`` together with the simulated HTP.

    Raises:
        click.UsageError: both are named.
    """
    if options["backend"] == "simulated" and options["library"] is not None:
        raise click.UsageError("--library is for the vendor's library; leave it out with --backend simulated")


def folders_option(meaning: str) -> Decorator:
    """Return ``--profiles`` as the parameter ``folders``."""
    return option(
        "--profiles",
        "folders",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        group=WHAT,
        help=meaning,
    )


def refuse_given(ctx: click.Context, names: Iterable[str], belongs_to: str, instead: str = "leave it out") -> None:
    """Refuse parameters that have no effect, and name what to do.

    Raises:
        click.UsageError: one of them is given.
    """
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(parameter.name or "") not in _NOT_GIVEN
        if given and parameter.name in names:
            raise click.UsageError(f"{parameter.opts[0]} is for {belongs_to}; {instead}")


def refuse_soc_with_arch(options: dict[str, Any]) -> None:
    """Refuse a SoC together with an architecture.

    Raises:
        click.UsageError: both are named.
    """
    if options["soc"] is not None and options["arch"] is not None:
        raise click.UsageError("--soc includes the architecture; leave --arch out")


def standard_input() -> bytes:
    """Return the content of the standard input, up to a byte more than any file may have."""
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

"""The options that several commands have: formats, folders, and for a dry run the platform and the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from htppower.cli.outputs import FormAndFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.review.dry_run.report import Workload

    Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

# The SoC of a dry run that names none.
DEFAULT_SOC = "SM8650"
# As in platforms.py, which takes long to import.
SYSTEMS = ("android", "linux", "windows", "qnx")

FOLDER = click.Path(exists=True, file_okay=False)
COUNT = click.IntRange(0, 10_000)
DURATION_US = click.IntRange(0, 3_600_000_000)

# The names of their parameters.
OF_A_WORKLOAD = ("inferences", "inference_us", "gap_us", "arch", "platform")

_WORKLOAD = (
    click.option("--soc", metavar="NAME", help=f"SoC by part or model number.  [dry run: {DEFAULT_SOC}]"),
    click.option("--arch", metavar="ARCH", help="Hexagon architecture, such as V75, instead of a SoC."),
    click.option(
        "--platform", type=click.Choice(SYSTEMS), default="linux", show_default=True, help="Operating system."
    ),
    click.option("--inferences", type=COUNT, default=3, show_default=True, help="How many inferences."),
    click.option("--inference-us", type=DURATION_US, default=5000, show_default=True, help="How long each takes."),
    click.option("--gap-us", type=DURATION_US, default=10_000, show_default=True, help="Idle time before each."),
)


def format_option(names: Sequence[str], meaning: str | None = None) -> Decorator:
    """Return ``--format`` as the parameter ``form``, which is ``text`` where none is named."""
    choice = click.Choice(names)
    return click.option("--format", "form", type=choice, default="text", show_default=True, help=meaning)


def output_options(names: Sequence[str]) -> Decorator:
    """Return ``--format``, and ``--output`` as the parameter ``outputs``."""
    meaning = "Write a file, too, whole; may be repeated."
    output = click.option("--output", "outputs", type=FormAndFile(names), multiple=True, help=meaning)
    return lambda command: format_option(names, "Of the output.")(output(command))


def folders_option(meaning: str) -> Decorator:
    """Return ``--profiles`` as the parameter ``folders``."""
    return click.option("--profiles", "folders", multiple=True, type=FOLDER, metavar="DIR", help=meaning)


def workload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a dry run to a command."""
    for option in reversed(_WORKLOAD):
        command = option(command)
    return command


def refuse_given(ctx: click.Context, names: Iterable[str], belongs_to: str) -> None:
    """Refuse parameters that have no effect.

    Raises:
        click.UsageError: one of these is given.
    """
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
        if given and parameter.name in names:
            raise click.UsageError(f"{parameter.opts[0]} is for {belongs_to}; leave it out")


def refuse_soc_with_arch(options: dict[str, Any]) -> None:
    """Refuse a SoC together with an architecture.

    Raises:
        click.UsageError: both are named.
    """
    if options["soc"] is not None and options["arch"] is not None:
        raise click.UsageError("--soc says which architecture it is; leave --arch out")


def simulated_htp(options: dict[str, Any]) -> SimulatedHtp:
    """Return a simulated HTP of the platform in the options."""
    from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415 - only for a dry run

    soc = options["soc"] if options["soc"] is not None or options["arch"] is not None else DEFAULT_SOC
    return SimulatedHtp(options["arch"], soc, options["platform"])


def workload(options: dict[str, Any]) -> Workload:
    """Return the workload in the options."""
    from htppower.review.dry_run.report import Workload  # noqa: PLC0415 - as above

    return Workload(options["inferences"], options["inference_us"], options["gap_us"])

"""The options that several commands have: formats, folders, and for a dry run the platform and the workload."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from htppower.cli.completion import values as completion
from htppower.cli.help import DEVICE, DRY_RUN, OUTPUT, WHAT, option
from htppower.cli.outputs import FormAndFile
from htppower.review.durations import duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from click.shell_completion import CompletionItem

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.cli.help import Decorator
    from htppower.review.dry_run.report import Workload


# The SoC of a dry run that names none.
DEFAULT_SOC = "SM8650"
# As in platforms.py, which takes long to import.
SYSTEMS = ("android", "linux", "windows", "qnx")

_LONGEST_US = 3_600_000_000


class GivenPath(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A path that can be read, or that is not there, as ``click.Path`` takes it.

    That one is made only where it may refuse a path: it looks for a translation of its name, which takes 1 ms.
    """

    name = "path"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        return value if self.is_taken(value) else self.of_click().convert(value, param, ctx)

    def is_taken(self, path: str) -> bool:
        """Return whether click's own type takes a path."""
        return os.access(path, os.R_OK) or not os.path.exists(path)  # noqa: PTH110 - raises on no name

    def of_click(self) -> click.Path:
        """Return click's own type."""
        return click.Path()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete paths."""
        return self.of_click().shell_complete(ctx, param, incomplete)


class Folder(GivenPath):
    """A folder that is there."""

    name = "directory"

    def is_taken(self, path: str) -> bool:
        """Return whether click's own type takes a path."""
        return os.path.isdir(path) and os.access(path, os.R_OK)  # noqa: PTH112 - raises on no name

    def of_click(self) -> click.Path:
        """Return click's own type."""
        return click.Path(exists=True, file_okay=False)


class FolderToWrite(click.Path):
    """A folder that is there, in which files are written."""

    def __init__(self) -> None:
        super().__init__(exists=True, file_okay=False, path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the folder."""
        if not os.path.lexists(value):
            self.fail(f"the folder {os.fspath(value)!r} is missing: make that first", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A whole number from the least to the most."""

    name = "N"

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is no whole number", param, ctx)
        if not self._least <= number <= self._most:
            self.fail(f"{number} is not in the range {self._least} to {self._most}", param, ctx)
        return number


class Duration(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A time such as ``5ms``, in us.

    Args:
        bare: the unit of a number without one.
        least_us, most_us: the range.
    """

    name = "TIME"

    def __init__(self, bare: str, least_us: int = 0, most_us: int = _LONGEST_US) -> None:
        self._bare = bare
        self._least_us = least_us
        self._most_us = most_us

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the time in us."""
        try:
            time_us = parse_duration(str(value), self._bare)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not self._least_us <= time_us <= self._most_us:
            self.fail(
                f"{value!r} is not in the range {duration(self._least_us)} to {duration(self._most_us)}", param, ctx
            )
        return time_us


# The names of their parameters.
OF_A_WORKLOAD = ("inferences", "inference_us", "gap_us", "arch", "platform")

_TIME = Duration("us")
_WORKLOAD = (
    option(
        "--soc",
        metavar="NAME",
        group=DRY_RUN,
        shell_complete=completion.socs,
        help=f"Simulate this SoC, by part or model number.  [default: {DEFAULT_SOC}]",
    ),
    option(
        "--arch",
        metavar="ARCH",
        group=DRY_RUN,
        shell_complete=completion.architectures,
        help="Simulate a Hexagon architecture such as V75, instead of a SoC.",
    ),
    option(
        "--platform",
        type=click.Choice(SYSTEMS),
        default="linux",
        show_default=True,
        group=DRY_RUN,
        help="Simulate this operating system.",
    ),
    option(
        "--inferences",
        type=WholeNumber(0, 10_000),
        default=3,
        show_default=True,
        group=DRY_RUN,
        help="Run this many inferences, up to 10000.",
    ),
    option(
        "--inference-time",
        "--inference-us",
        "inference_us",
        type=_TIME,
        default="5ms",
        show_default=True,
        group=DRY_RUN,
        help="Let each inference take this long, such as 5ms or 300us; a number alone is in us.",
    ),
    option(
        "--gap",
        "--gap-us",
        "gap_us",
        type=_TIME,
        default="10ms",
        show_default=True,
        group=DRY_RUN,
        help="Idle this long before each inference.",
    ),
)


def format_option(names: Sequence[str]) -> Decorator:
    """Return ``--format`` as the parameter ``form``, which is ``text`` where none is named."""
    meaning = "Print it in this form."
    return option(
        "--format", "form", type=click.Choice(names), default="text", show_default=True, group=OUTPUT, help=meaning
    )


def output_options(names: Sequence[str]) -> Decorator:
    """Return ``--format``, and ``--output`` as the parameter ``outputs``."""
    meaning = "Write a file in a form, too, whole or not at all; may be repeated."
    output = option("--output", "outputs", type=FormAndFile(names), multiple=True, group=OUTPUT, help=meaning)
    return lambda command: format_option(names)(output(command))


def library_option() -> Decorator:
    """Return ``--library``, the vendor's library to use in the place of the one that would be found."""
    meaning = "Use this library of the vendor's, and look for none."
    return option("--library", type=GivenPath(), metavar="FILE", group=DEVICE, help=meaning)


def folders_option(meaning: str) -> Decorator:
    """Return ``--profiles`` as the parameter ``folders``."""
    return option("--profiles", "folders", multiple=True, type=Folder(), metavar="DIR", group=WHAT, help=meaning)


def workload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a dry run to a command."""
    for each in reversed(_WORKLOAD):
        command = each(command)
    return command


def refuse_given(ctx: click.Context, names: Iterable[str], belongs_to: str, instead: str = "leave it out") -> None:
    """Refuse parameters that have no effect, and say what to do.

    Raises:
        click.UsageError: one of these is given.
    """
    for parameter in ctx.command.params:
        given = ctx.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
        if given and parameter.name in names:
            raise click.UsageError(f"{parameter.opts[0]} is for {belongs_to}; {instead}")


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

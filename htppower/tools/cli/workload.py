"""The options of a dry run: the platform, and the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from htppower.tools.cli.help import DRY_RUN, option
from htppower.tools.cli.options import SYSTEMS, arch_option, soc_option
from htppower.tools.cli.parameter_types import Duration, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.tools.cli.help import Decorator
    from htppower.tools.review.dry_run.workload import Workload

# The SoC of a dry run that names none.
DEFAULT_SOC = "SM8650"

# A time has a second option, such as --gap-us, which takes a number of us. Its parameter has this ending.
_NUMBER = "_number"
_TIMES = ("inference_us", "gap_us")
# The names of the parameters.
OF_A_WORKLOAD = ("inferences", *_TIMES, *(time + _NUMBER for time in _TIMES), "arch", "platform")


def _time_options(name: str, parameter: str, default: str, meaning: str) -> tuple[Decorator, Decorator]:
    """Return an option that takes a time with its unit, and a hidden one that takes a number of us."""
    in_us = f"--{parameter.replace('_', '-')}"
    meaning = f"{meaning} {in_us} takes a number of us."
    time = option(name, parameter, type=Duration(), default=default, show_default=True, group=DRY_RUN, help=meaning)
    return time, option(in_us, parameter + _NUMBER, type=Duration(number_us=True), hidden=True)


_WORKLOAD = (
    soc_option(f"Simulate this SoC, by name, part or model number.  [default: {DEFAULT_SOC}]", DRY_RUN),
    arch_option("Simulate a Hexagon architecture such as V75, instead of a SoC.", DRY_RUN),
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
    *_time_options(
        "--inference-time", "inference_us", "5ms", "Let each inference take this long, such as 5ms or 300us."
    ),
    *_time_options("--gap", "gap_us", "10ms", "Idle this long before each inference."),
)


def workload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a dry run to a command."""
    for each in reversed(_WORKLOAD):
        command = each(command)
    return command


def simulated_htp(options: dict[str, Any]) -> SimulatedHtp:
    """Return a simulated HTP of the platform in the options."""
    from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415 - only for a dry run

    soc = options["soc"] if options["soc"] is not None or options["arch"] is not None else DEFAULT_SOC
    return SimulatedHtp(options["arch"], soc, options["platform"])


def workload(options: dict[str, Any]) -> Workload:
    """Return the workload in the options.

    Raises:
        click.UsageError: a time is given twice, with its unit and as a number of us.
    """
    from htppower.tools.review.dry_run.workload import Workload  # noqa: PLC0415 - as above

    inference_us, gap_us = (_time_us(options, time) for time in _TIMES)
    return Workload(options["inferences"], inference_us, gap_us)


def _time_us(options: dict[str, Any], time: str) -> int:
    number: int | None = options[time + _NUMBER]
    if number is None:
        return int(options[time])
    if click.get_current_context().get_parameter_source(time) is not ParameterSource.DEFAULT:
        raise click.UsageError(f"--{time.replace('_', '-')} repeats a time that another option gives; leave one out")
    return number

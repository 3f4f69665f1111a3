"""The options of a dry run: the platform, and the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from htppower.cli.completion import values as completion
from htppower.cli.help import DRY_RUN, option
from htppower.cli.options import SYSTEMS
from htppower.cli.parameter_types import Duration, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.review.dry_run.report import Workload

# The SoC of a dry run that names none.
DEFAULT_SOC = "SM8650"

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
    """Return the workload in the options."""
    from htppower.review.dry_run.report import Workload  # noqa: PLC0415 - as above

    return Workload(options["inferences"], options["inference_us"], options["gap_us"])

"""``htppower calibrate``: measure the values of a device model that can be measured on a device."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from htppower.backends.clock import MonotonicClock
from htppower.backends.qnn.htp import QnnHtp
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.errors import printable
from htppower.profiles.regular_file import opened_files, read_regular_file
from htppower.profiles.yaml_text import profile_name
from htppower.tools.cli import completion
from htppower.tools.cli.help import DEVICE, OUTPUT, WHAT, Command, option
from htppower.tools.cli.options import force_option, library_option, soc_option
from htppower.tools.cli.outputs import File, Sort, refuse_to_replace, write_files
from htppower.tools.cli.parameter_types import Duration, WholeNumber
from htppower.tools.cli.terminal import echo, fitted, kept_off_stdout
from htppower.tools.report.words import rough_duration
from htppower.tools.tuning.models.calibration.inference import find_inference
from htppower.tools.tuning.models.calibration.meter import UNITS, command_meter, file_meter
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed, Settings
from htppower.tools.tuning.models.calibration.steps import plan
from htppower.tools.tuning.models.file import (
    DEFAULT_DEVICE,
    examine_device_model,
    load_device_model,
    model_text,
    number,
    odd_order,
)
from htppower.tools.tuning.models.model import MEASURED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from htppower.backends.base import Backend
    from htppower.tools.tuning.models.calibration.meter import Meter
    from htppower.tools.tuning.models.calibration.run import Calibration
    from htppower.tools.tuning.models.calibration.steps import Step
    from htppower.tools.tuning.models.model import DeviceModel, Quantity

_US = 1_000_000
_SLEEP_LATENCIES_US = (40, 100, 1000)
_ID = WholeNumber(0, 2**32 - 1)


@click.command(name="calibrate", cls=Command, example="htppower calibrate -o phone.yaml --run host:infer")
@option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), group=OUTPUT, help="Write the model here.")
@force_option()
@option("--dry-run", is_flag=True, group=WHAT, help="Print what would be measured, and send no votes.")
@option(
    "--device",
    metavar="NAME|FILE",
    default=DEFAULT_DEVICE,
    show_default=True,
    group=WHAT,
    shell_complete=completion.devices,
    help="Keep the values of this device model that are not measured.",
)
@option(
    "--run",
    metavar="MODULE:FUNCTION|ONNX",
    group=WHAT,
    help="Run this as an inference: a Python function without arguments, or an ONNX model on the HTP. Without it only "
    "calls and idle power are measured.",
)
@option("--power-file", metavar="FILE", type=click.Path(), group=WHAT, help="Read a power rail from this file.")
@option("--power-command", metavar="COMMAND", group=WHAT, help="Read a power rail from the output of this command.")
@option(
    "--power-unit",
    type=click.Choice(UNITS),
    default="uW",
    show_default=True,
    group=WHAT,
    help="The unit of the rail, which has the present power, or the energy so far.",
)
@option(
    "--count",
    type=WholeNumber(1, 100_000),
    default=20,
    show_default=True,
    group=WHAT,
    help="Measure each call and each lateness this many times.",
)
@option(
    "--idle",
    "idle_us",
    type=Duration(1000),
    default="400ms",
    show_default=True,
    group=WHAT,
    help="Idle this long before each first inference.",
)
@option(
    "--sleep-latency",
    "sleep_latencies_us",
    metavar="US",
    type=WholeNumber(10, 65535),
    multiple=True,
    default=_SLEEP_LATENCIES_US,
    group=WHAT,
    help="Measure first inferences at this sleep latency, in us; may be repeated.  [default: 40, 100, 1000]",
)
@option(
    "--power-time",
    "power_us",
    type=Duration(1000),
    default="1s",
    show_default=True,
    group=WHAT,
    help="Read the rail for this long each time.",
)
@option("--backend", type=click.Choice(["qnn", "simulated"]), group=DEVICE, help="Use this backend.  [default: qnn]")
@library_option()
@soc_option("The SoC, by name, part or model number, if the library does not report it.")
@option("--device-id", type=_ID, default=0, show_default=True, group=DEVICE, help="Vote on this device.")
@option("--core", "core_id", type=_ID, default=0, show_default=True, group=DEVICE, help="Vote on this core.")
def command(**options: Any) -> None:
    """Measure what calls, idling and inferences cost on a device, and write its device model.

    It measures how long calls that raise and lower votes take; how late the first inference after idle is, at several
    sleep latencies and if it has to raise; what polling saves; how fast profiles are; with a power rail, the power at
    work, raised, relaxed and released. A value that is not measured is kept from --device, and marked so.

    At the end, even after a failure, the votes are reset. FILE is written whole or not at all. To add to earlier
    measurements, name the same file twice: --device ./phone.yaml -o phone.yaml.

    Exit code 0: measured; 2: it failed.
    """
    _check_options(options)

    base, settings, meter = load_device_model(options["device"]), _settings(options), _meter(options)
    steps = plan(settings, base, infers=options["run"] is not None, metered=meter is not None)
    sort = _refuse_to_lose(options, base, {name for step in steps for name in step.names})
    make = None if options["run"] is None else find_inference(options["run"])
    if options["dry_run"]:
        echo(_plan_text(steps))
        return

    from htppower.tools.tuning.models.calibration.run import calibrate  # noqa: PLC0415 - help needs no controller

    numbers = itertools.count(1)
    with kept_off_stdout(), contextlib.closing(_backend(options)) as backend:
        found = calibrate(
            backend,
            base,
            settings,
            clock=MonotonicClock(),
            wait_us=lambda duration_us: time.sleep(duration_us / _US),
            date=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            make_inference=make,
            meter=meter,
            tell=lambda step: echo(f"htppower: {next(numbers)} of {len(steps)}: {step.does}", err=True),
        )
    _write(Path(options["output"]), found, base, sort, force=options["force"])


def _check_options(options: dict[str, Any]) -> None:
    if options["output"] is None and not options["dry_run"]:
        raise click.UsageError("name the file to write with -o, or add --dry-run to see what would be measured")
    if options["output"] is not None and not Path(options["output"]).absolute().parent.is_dir():
        raise click.UsageError(f"{options['output']} is in a folder that does not exist; make the folder first")
    if options["power_file"] is not None and options["power_command"] is not None:
        raise click.UsageError("--power-file and --power-command both name a power rail; name only one of them")
    if options["backend"] == "simulated" and options["library"] is not None:
        raise click.UsageError("--library is for the vendor's library; leave it out with --backend simulated")
    if len(set(options["sleep_latencies_us"])) < len(options["sleep_latencies_us"]):
        raise click.UsageError("--sleep-latency names a latency twice")


def _refuse_to_lose(options: dict[str, Any], base: DeviceModel, anew: Collection[str]) -> Sort:
    """Return which ``Sort`` of file the output is; refuse if the existing file would lose measured values or edits.

    This runs before the measurement, which takes long. ``anew`` has the names of the values that will be measured.
    """
    output = options["output"]
    if output is None or not Path(output).is_file():
        return Sort.KEPT
    found = Path(output).stat()
    if (found.st_dev, found.st_ino) in opened_files():
        return Sort.EDITED  # it is the model of --device
    model = examine_device_model(output, read_regular_file(output, noted=False)).model
    there = {} if model is None else model.quantities()
    lost = [
        name
        for name, each in there.items()
        if each.provenance == MEASURED and name not in anew and each != base.quantities().get(name)
    ]
    if lost and not options["force"]:
        raise click.UsageError(
            f"{output} has measured values that would be lost ({', '.join(lost)}): --device {output} -o {output} adds "
            "to it, and --force overwrites it"
        )
    if not options["force"]:
        refuse_to_replace(output, File("", Sort.KEPT))
    return Sort.KEPT


def _settings(options: dict[str, Any]) -> Settings:
    return Settings(
        count=options["count"],
        idle_us=options["idle_us"],
        sleep_latencies_us=options["sleep_latencies_us"],
        power_us=options["power_us"],
        device_id=options["device_id"],
        core_id=options["core_id"],
    )


def _meter(options: dict[str, Any]) -> Meter | None:
    """Return the power rail. It is read once, so that an unreadable rail is refused before anything is voted."""
    if options["power_file"] is not None:
        meter = file_meter(Path(options["power_file"]), options["power_unit"])
    elif options["power_command"] is not None:
        meter = command_meter(options["power_command"], options["power_unit"])
    else:
        return None
    meter.look()
    return meter


def _backend(options: dict[str, Any]) -> Backend:
    if options["backend"] == "simulated":
        return SimulatedHtp(None, options["soc"], devices=options["device_id"] + 1, cores=options["core_id"] + 1)

    return QnnHtp(options["library"], options["soc"])


def _plan_text(steps: Sequence[Step]) -> str:

    lines = []
    for place, step in enumerate(steps, 1):
        filled = f", and as many as fit in {rough_duration(step.works_us)}" if step.works_us else ""
        lines.append(f"{place}. {step.does}")
        lines.append(f"   measures {', '.join(step.names)}")
        lines.append(f"   takes {step.inferences} inferences{filled}; in addition {rough_duration(step.waits_us)}")
    total_us = sum(step.waits_us + step.works_us for step in steps)
    return "\n".join(
        (*lines, f"In all {rough_duration(total_us)}, without calls and counted inferences. No vote was sent.")
    )


def _write(path: Path, found: Calibration, base: DeviceModel, sort: Sort, *, force: bool) -> None:

    measured = ", ".join(sorted({name.partition(".")[0] for name in found.found}))
    summary = f"Measured by htppower calibrate: {measured}; all else is from {base.device}."
    model = attrs.evolve(found.model, device=profile_name(path.stem), summary=summary)
    text = model_text(model)
    _refuse_implausible(path, text)
    write_files({str(path): File(text, sort)}, force=force)
    before = base.quantities()
    for name, quantity in found.found.items():
        echo(fitted(f"{name:<36}{_said(quantity)}{_before(before.get(name))}", "    "))
    for note in (*found.notes, *(message for _, message in odd_order(model))):
        echo(f"note: {note}", err=True)
    echo(f"{printable(str(path))}: written")


def _refuse_implausible(path: Path, text: str) -> None:
    """Refuse a model that can't be loaded: a rail in another unit gives a million times the power.

    Raises:
        CalibrationFailed: the message has the faults.
    """
    from htppower.tools.tuning.models.file import examine_device_model  # noqa: PLC0415

    problems = examine_device_model(str(path), text.encode()).problems
    if problems:
        said = "; ".join(f"{problem.message} ({problem.hint})" for problem in problems)
        raise CalibrationFailed(f"the measured values are impossible: {said}. Nothing was written; check the unit")


def _said(quantity: Quantity) -> str:

    low, high = quantity.range or (quantity.value, quantity.value)
    return f"{number(quantity.value)} ({number(low)} to {number(high)}, {quantity.count} times)"


def _before(quantity: Quantity | None) -> str:

    return "" if quantity is None else f", {quantity.provenance} before: {number(quantity.value)}"

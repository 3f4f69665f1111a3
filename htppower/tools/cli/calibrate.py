"""``htppower calibrate``: measure the values of a device model that can be measured on a device."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from htppower.backends.qnn.htp import QnnHtp
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.errors import printable
from htppower.profiles.regular_file import opened_files, read_regular_file
from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.profiles.yaml_text import profile_name
from htppower.tools.cli import completion
from htppower.tools.cli.help import DEVICE, OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.measure import backend_option, count_option, run_option
from htppower.tools.cli.options import (
    force_option,
    library_option,
    refuse_given,
    refuse_library_with_simulated,
    soc_option,
)
from htppower.tools.cli.outputs import File, Sort, refuse_to_replace, write_files
from htppower.tools.cli.parameter_types import Duration, WholeNumber
from htppower.tools.cli.terminal import echo, fitted, kept_off_stdout
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Table
from htppower.tools.report.layout import terminal_width
from htppower.tools.report.words import rough_duration
from htppower.tools.tuning.models.calibration.inference import find_inference
from htppower.tools.tuning.models.calibration.meter import UNITS, find_meter
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed, PowerRefused, Settings
from htppower.tools.tuning.models.calibration.steps import plan
from htppower.tools.tuning.models.file import (
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
    from htppower.tools.tuning.models.calibration.fit import StatePower
    from htppower.tools.tuning.models.calibration.meter import Meter
    from htppower.tools.tuning.models.calibration.run import Calibration
    from htppower.tools.tuning.models.calibration.steps import Step
    from htppower.tools.tuning.models.model import DeviceModel, Quantity

_SLEEP_LATENCIES_US = (40, 100, 1000)
_ID = WholeNumber(0, 2**32 - 1)
_OF_METER = ("meter_unit", "period_us", "power_us", "power_count", "compared", "drift_mw")


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
@run_option(
    "Run this as an inference: a Python function without arguments, or an ONNX model on the HTP. Without it only "
    "calls and idle power are measured."
)
@option(
    "--meter",
    metavar="KIND:WHERE",
    group=WHAT,
    help="Measure powers with this meter: file:PATH, command:COMMAND or python:MODULE:FUNCTION.",
)
@option(
    "--meter-unit",
    type=click.Choice(UNITS),
    group=WHAT,
    help="The unit of the meter: its present power, or the energy so far.  [default: uW for a file, else mW]",
)
@option(
    "--meter-period",
    "period_us",
    type=Duration(1000),
    default="1s",
    show_default=True,
    group=WHAT,
    help="The meter averages over this time, its delay included.",
)
@option(
    "--power-time",
    "power_us",
    type=Duration(1000),
    help="Let the readings of this time count in each run.  [default: 10 periods of the meter]",
    group=WHAT,
)
@option(
    "--power-count",
    type=WholeNumber(4, 1000),
    default=5,
    show_default=True,
    group=WHAT,
    help="Measure each power in this many runs.",
)
@option(
    "--compare",
    "compared",
    metavar="PROFILE",
    multiple=True,
    group=WHAT,
    shell_complete=completion.profiles,
    help="Also measure the power at work under this profile; may be repeated.",
)
@option(
    "--drift-limit",
    "drift_mw",
    type=WholeNumber(1, 1_000_000),
    metavar="MW",
    default=200,
    show_default=True,
    group=WHAT,
    help="Refuse the powers if idling changes by more than this, in mW.",
)
@count_option("Measure each call and each lateness this many times.")
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
@backend_option()
@library_option()
@soc_option("The SoC, by name, part or model number, if the library does not report it.")
@option("--device-id", type=_ID, default=0, show_default=True, group=DEVICE, help="Vote on this device.")
@option("--core", "core_id", type=_ID, default=0, show_default=True, group=DEVICE, help="Vote on this core.")
def command(**options: Any) -> None:
    """Measure what calls, idling and inferences cost on a device, and write its device model.

    It measures how long calls that raise and lower votes take; how late the first inference after idle is, at several
    sleep latencies and if it has to raise; what polling saves; how fast profiles are; with a meter, the power at work,
    raised, relaxed and released. A value that is not measured is kept from --device, and marked so.

    At the end, even after a failure, the votes are reset. FILE is written whole or not at all. To add to earlier
    measurements, name the same file twice: --device ./phone.yaml -o phone.yaml.

    Exit code 0: measured; 1: the readings of the meter do not prove the powers, and nothing was written; 2: it failed.
    """
    _check_options(options)

    try:
        _calibrate(options)
    except PowerRefused as refused:
        echo(f"htppower: refused: {refused}", err=True)
        click.get_current_context().exit(REFUSED)


def _calibrate(options: dict[str, Any]) -> None:
    base, settings, meter = load_device_model(options["device"]), _settings(options), _meter(options)
    steps = plan(settings, base, infers=options["run"] is not None, metered=meter is not None)
    sort = _refuse_to_lose(options, base, {name for step in steps for name in step.names})
    make = None if options["run"] is None else find_inference(options["run"])
    if options["dry_run"]:
        echo(_plan_text(steps))
        return

    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - help needs no scheduler
    from htppower.tools.tuning.models.calibration.run import calibrate, opened_bench  # noqa: PLC0415 - help needs no controller

    numbers = itertools.count(1)
    with (
        kept_off_stdout(),
        contextlib.closing(SystemTime()) as clock,
        contextlib.closing(_backend(options)) as backend,
        opened_bench(backend, settings, clock=clock, make_inference=make, meter=meter) as bench,
    ):
        found = calibrate(
            bench, base, lambda step: echo(f"htppower: {next(numbers)} of {len(steps)}: {step.does}", err=True)
        )
    _write(Path(options["output"]), found, base, sort, force=options["force"])


def _check_options(options: dict[str, Any]) -> None:
    if options["output"] is None and not options["dry_run"]:
        raise click.UsageError("name the file to write with -o, or add --dry-run to see what would be measured")
    if options["output"] is not None and not Path(options["output"]).absolute().parent.is_dir():
        raise click.UsageError(f"{options['output']} is in a folder that does not exist; make the folder first")
    refuse_library_with_simulated(options)
    if options["meter"] is None:
        ctx = click.get_current_context()
        refuse_given(ctx, _OF_METER, "--meter", "add --meter")
    elif options["compared"] and options["run"] is None:
        raise click.UsageError("--compare is for --run, which works under each profile; add --run")
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
        power_count=options["power_count"],
        power_us=options["power_us"] or 0,
        period_us=options["period_us"],
        drift_w=options["drift_mw"] / 1000,
        compared=options["compared"],
        device_id=options["device_id"],
        core_id=options["core_id"],
    )


def _meter(options: dict[str, Any]) -> Meter | None:
    """Return the meter. It is read once, so that an unreadable meter is refused before anything is voted."""
    if options["meter"] is None:
        return None
    meter = find_meter(options["meter"], options["meter_unit"])
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
    if found.powers:
        echo(as_text([_power_table(found.powers)], terminal_width()))
    for note in (*found.notes, *(message for _, message in odd_order(model))):
        echo(f"note: {note}", err=True)
    echo(f"{printable(str(path))}: written")


def _power_table(powers: Sequence[StatePower]) -> Table:
    head = ("state", "mW", "above released, mW", "inferences/s", "mJ each", "CPUs")
    rows = []
    for each in powers:
        works = each.inferences_s > 0
        rows.append(
            (
                each.name,
                "{:.4g} +- {:.2g}".format(*each.power_mw),
                "{:.4g} +- {:.2g}".format(*each.above_idle_mw),
                f"{each.inferences_s:.4g}" if works else "",
                "{:.4g} +- {:.2g}".format(*each.inference_mj) if works else "",
                f"{each.cpu_share:.2f}",
            )
        )
    return Table("powers", head, rows, numbers=True)


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

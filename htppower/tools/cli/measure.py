"""``htppower doctor --measure``: what votes take on this device."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import click

from htppower.backends.qnn.htp import QnnHtp
from htppower.tools.cli import completion
from htppower.tools.cli.help import DEVICE, WHAT, option
from htppower.tools.cli.options import refuse_given, refuse_library_with_simulated
from htppower.tools.cli.parameter_types import ClockSourceType, WholeNumber
from htppower.tools.cli.terminal import kept_off_stdout
from htppower.tools.doctor.fastrpc import read_fastrpc
from htppower.tools.report.layout import terminal_width
from htppower.tools.tuning.models.calibration.inference import find_inference
from htppower.tools.tuning.models.calibration.settings import Settings
from htppower.tools.tuning.models.calibration.votes_forms import render
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.models.timed_device import timed_htp

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.base import Backend
    from htppower.control.clock.reading import ClockSource
    from htppower.tools.cli.help import Decorator
    from htppower.tools.tuning.models.calibration.run import MakeInference
    from htppower.tools.tuning.models.calibration.votes import ReadClock

_OF_MEASURE = ("run", "count", "raised", "backend", "clock")


def run_option(meaning: str) -> Decorator:
    """Return ``--run``, the inference."""
    return option("--run", metavar="MODULE:FUNCTION|ONNX", group=WHAT, help=meaning)


def count_option(meaning: str) -> Decorator:
    """Return ``--count``, how often each time is measured."""
    return option("--count", type=WholeNumber(1, 100_000), default=20, show_default=True, group=WHAT, help=meaning)


def backend_option() -> Decorator:
    """Return ``--backend``."""
    meaning = "Use this backend.  [default: qnn]"
    return option("--backend", type=click.Choice(["qnn", "simulated"]), group=DEVICE, help=meaning)


def measure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of ``--measure`` to a command."""
    for each in (
        backend_option(),
        option(
            "--raise",
            "raised",
            metavar="NAME",
            default="burst",
            show_default=True,
            group=WHAT,
            shell_complete=completion.profiles,
            help="With --measure, raise this profile.",
        ),
        count_option("With --measure, measure each time this often."),
        option(
            "--clock",
            type=ClockSourceType(),
            group=WHAT,
            help="With --measure, also read the clock: by qcnpuperf, or by file:PATH.",
        ),
        run_option("With --measure, run this as an inference: a Python function, or an ONNX model on the HTP."),
        option("--measure", is_flag=True, group=WHAT, help="Measure how long votes take, and print only that."),
    ):
        command = each(command)
    return command


def measured(form: str, options: dict[str, Any]) -> str:
    """Measure what votes take on this device; return it in a form.

    Args:
        form: one of ``votes_forms.FORMS``.
        options: those of ``measure_options``, and ``library`` and ``soc``.

    Raises:
        click.UsageError: the source of the clock can't be opened.
    """
    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - help needs no scheduler
    from htppower.tools.tuning.models.calibration.run import opened_bench  # noqa: PLC0415 - help needs no controller
    from htppower.tools.tuning.models.calibration.votes import measure_votes  # noqa: PLC0415 - as above

    refuse_library_with_simulated(options)
    make: MakeInference | None = None if options["run"] is None else find_inference(options["run"])
    with kept_off_stdout(), contextlib.closing(SystemTime()) as clock, contextlib.ExitStack() as opened:
        backend: Backend
        if options["backend"] == "simulated":
            htp = opened.enter_context(contextlib.closing(timed_htp(load_device_model(), soc_model=options["soc"])))
            backend, make = htp, make or (lambda _session: contextlib.nullcontext(htp.infer))
        else:
            backend = opened.enter_context(contextlib.closing(QnnHtp(options["library"], options["soc"])))
        settings = Settings(count=options["count"], profile=options["raised"])
        bench = opened_bench(backend, settings, clock=clock, make_inference=make)
        fastrpc = read_fastrpc(Path("/"), os.environ).version or None
        read = None if options["clock"] is None else _clock_reader(options["clock"], opened)
        found = measure_votes(opened.enter_context(bench), read, fastrpc)
    return render(found, form, terminal_width())


def _clock_reader(source: ClockSource, opened: contextlib.ExitStack) -> ReadClock:
    """Open a source of the clock, which the stack closes; return a function that reads it."""
    try:
        source.open()
    except OSError as error:
        raise click.UsageError(f"the clock can't be read by {source.name}: {error}") from None
    opened.callback(source.close)

    def read() -> int | None:
        try:
            return source.read(monotonic_ns()).clock_khz
        except (OSError, ValueError):
            return None

    return read


def refuse_without_measure() -> None:
    """Refuse the options of ``--measure`` without it.

    Raises:
        click.UsageError: one of them is given.
    """
    refuse_given(click.get_current_context(), _OF_MEASURE, "--measure", "add --measure")

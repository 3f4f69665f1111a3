"""``htppower tune --pace``: what a pace would have done on a recording."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from htppower.profiles.loading import load_profile
from htppower.tools.cli.help import REFUSED, WHAT, option
from htppower.tools.cli.options import refuse_given
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.parameter_types import Percent
from htppower.tools.cli.progress import shown_progress, size_of
from htppower.tools.cli.trace import needs_extra, stream_of
from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The parameters of the command that a pace does not use, and those that only a pace uses.
_OF_TUNING = ("limits", "break_even_us", "most_us", "within", "settings", "verify", "folder")
OF_A_PACE = ("miss_rate", "pace_waits")
_MOST_MISSED = 50
# The limits of Session.pace.
_RATES = (0.01, 10_000)
_FEWEST_MISSED = 0.001
_OPTIONS = (
    option(
        "--pace",
        type=click.FloatRange(*_RATES),
        metavar="RATE",
        group=WHAT,
        help="Show what a pace of this many inferences a second would have done, instead of tuning.",
    ),
    option(
        "--miss-rate",
        "miss_rate",
        type=Percent(_MOST_MISSED),
        default="1%",
        show_default=True,
        group=WHAT,
        help="With --pace: the share of the deadlines that may be missed.",
    ),
    option(
        "--pace-waits",
        is_flag=True,
        group=WHAT,
        help="With --pace: each inference waits for its slot, and the gaps of the recording are work of the host.",
    ),
)


def pace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a pace to a command: ``pace``, and those in ``OF_A_PACE``."""
    for each in reversed(_OPTIONS):
        command = each(command)
    return command


def run_pace(ctx: click.Context, options: dict[str, Any]) -> None:
    """Print what a pace would have done on a recording, by the options of ``htppower tune``.

    Raises:
        click.UsageError: an option has no effect, or a profile has no votes.
        HtpPowerError: the recording, a profile or the device model can't be used.
        OSError: a file can't be written.
    """
    refuse_given(ctx, _OF_TUNING, "tuning, not for --pace")
    if options["miss_rate"] < _FEWEST_MISSED:
        raise click.BadParameter("0.1% or more", param_hint="--miss-rate")
    with needs_extra("tune"):
        from htppower.control.pace.ladder import ladder_below, sorted_profiles  # noqa: PLC0415 - as below
        from htppower.tools.review.tuning.pace_forms import PacedTrace, render  # noqa: PLC0415 - as below
        from htppower.tools.tuning.paced import Aim, paced  # noqa: PLC0415 - as below
        from htppower.tools.tuning.traces.read import read_trace  # noqa: PLC0415 - numpy is not needed for a usage error
        from htppower.tools.tuning.tune import Question, TuningError, chosen, recorded_under  # noqa: PLC0415 - as above

    file, form = options["file"], options["form"]
    load = functools.partial(load_profile, folders=options["folders"])
    question = Question(measured_under=options["measured_under"], folders=options["folders"])
    aim = Aim(options["pace"], options["miss_rate"], options["pace_waits"])
    model = load_device_model(options["device"], options["folders"])
    named = tuple(map(load, options["names"]))
    found = []
    with shown_progress() as progress:
        progress.begin(f"reading {file}", size_of(file))
        read = {"format": options["kind"], "name": options["name"], "unit": options["unit"]}
        trace = chosen(read_trace(file, **read, stream=stream_of(file), progress=progress.add), options["sessions"])
        sessions = [each for each in trace.sessions if each.begins_us.size]
        if not sessions:
            raise TuningError(f"{file}: no session has an inference")
        progress.begin("running the pace", 1.0)
        for place, session in enumerate(sessions, start=1):
            under, notes = recorded_under(session, question)
            try:
                ladder = sorted_profiles(named) if named else ladder_below(under, load)
            except ValueError as error:
                raise click.BadParameter(str(error), param_hint="--profile") from None
            found.append((paced(session, model, ladder, under, aim), notes))
            progress.at(place / len(sessions))
    result = PacedTrace(trace, model, aim, tuple(found))
    page = options["page"]
    outputs = (*options["outputs"], *([] if page is None else [("html", page)]))
    document = write_outputs(outputs, form, functools.partial(render, result), force=options["force"])
    print_document(document, form)
    if not result.kept:
        ctx.exit(REFUSED)

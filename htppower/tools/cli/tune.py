"""``htppower tune``: the profile and the sustain time that cost least on a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from htppower.profiles.paths import joined
from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.tools.cli import completion
from htppower.tools.cli.forms import PageFile
from htppower.tools.cli.help import DEVICE, OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import folders_option, force_option, output_options, refuse_given
from htppower.tools.cli.outputs import File, Sort, print_document, write_outputs
from htppower.tools.cli.parameter_types import Duration, FolderToWrite, Percent, WholeNumber
from htppower.tools.cli.progress import shown_progress, size_of
from htppower.tools.cli.terminal import echo
from htppower.tools.cli.trace import needs_extra, reading_options, stream_of
from htppower.tools.cli.tune_fleet import OF_A_FLEET, fleet_options, run_fleet
from htppower.tools.cli.tune_pace import OF_A_PACE, pace_options, run_pace
from htppower.tools.tuning.limits import parse_limit

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.tune import Tuning

# The same as in tools/review/tuning/forms.py, which needs numpy.
_FORMS = ("text", "json", "html")
_LONGEST_US = 3_600_000_000
_MOST = 100_000
_MOST_WITHIN = 20


@click.command(name="tune", cls=Command, example="htppower tune trace.json --limit 'p99 <= 12 ms'")
@click.argument("file", type=click.Path(), metavar="TRACE", required=False)
@option(
    "--limit",
    "limits",
    metavar="LIMIT",
    multiple=True,
    group=WHAT,
    help="Keep this limit, such as 'p99 <= 12 ms' or 'cold <= 5 %'; p50, p90, p95, p99, p99.9, max and mean are times "
    "from the request of an inference to its end, cold is the share that waits for a raise. May be repeated.",
)
@option(
    "--break-even",
    "break_even_us",
    type=Duration(1, _LONGEST_US // 2),
    default="100ms",
    show_default=True,
    group=WHAT,
    help="Without a limit, the idle time that is worth a raise, which sets the price of latency.",
)
@option(
    "--profile",
    "names",
    metavar="NAME",
    multiple=True,
    group=WHAT,
    shell_complete=completion.profiles,
    help="Try this profile, by name or path; may be repeated.  [default: the vendor's]",
)
@reading_options
@folders_option("Also look for names in this folder; may be repeated.")
@option(
    "--measured-under",
    metavar="NAME",
    group=WHAT,
    shell_complete=completion.profiles,
    help="The profile that was in force.  [default: from the trace, or burst]",
)
@option("--session", "sessions", metavar="NAME", multiple=True, group=WHAT, help="Tune this session only; repeatable.")
@option(
    "--longest",
    "most_us",
    type=Duration(20_000, _LONGEST_US),
    default="10s",
    show_default=True,
    group=WHAT,
    help="Try no sustain time longer than this.",
)
@option(
    "--within",
    type=Percent(_MOST_WITHIN),
    default="1%",
    show_default=True,
    group=WHAT,
    help="Among the choices that cost up to this much more than the least, advise the one that stays right under the "
    "largest change of the gaps, with a reserve to the limits; 0% advises the least cost itself, without a reserve or "
    "a check on the last third.",
)
@option(
    "--settings",
    type=WholeNumber(1, _MOST),
    default=200,
    show_default=True,
    group=WHAT,
    help="Put at most this many sustain times of each profile on the front; the advised one is the best of all.",
)
@option(
    "--device",
    metavar="NAME",
    default=DEFAULT_DEVICE,
    show_default=True,
    group=DEVICE,
    shell_complete=completion.devices,
    help="The device model, by name or path.",
)
@option(
    "--verify",
    type=WholeNumber(0, _MOST),
    default=0,
    show_default=True,
    metavar="N",
    group=WHAT,
    help="Replay this many points of each front with the real controller in virtual time, and compare.",
)
@option(
    "--page",
    type=PageFile(),
    metavar="FILE",
    group=OUTPUT,
    help="Write a page with the front, cost over sustain times, gaps and a table: as --output html=FILE.",
)
@option(
    "--write",
    "folder",
    type=FolderToWrite(),
    metavar="DIR",
    group=OUTPUT,
    help="Write the advised profile of each session into this folder, as NAME_tuned.yaml.",
)
@force_option("With --write: overwrite an existing file that differs from what htppower wrote.")
@pace_options
@fleet_options
@output_options(_FORMS)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Find the profile and the sustain time that cost least on a recording: exactly, over all of them.

    TRACE is read as by htppower trace, with its --from, --name and --unit; - is the standard input. Each session is
    tried under every profile of the vendor, with polling on and off if that is valid, with every fixed sustain time and
    with learnt ones; a session of more than 200,000 inferences on stretches of it. Sessions of one recording share a
    core and the process, and are settled together.

    The energy is computed from the device model, whose values are measured or assumed. Each result shows the
    assumptions that it depends on, and how far each may change before other advice would be better.

    Among the choices that cost about as little, the advised one is still right after the largest change of the gaps. It
    keeps the limits with a reserve. It is chosen on the first two thirds of the recording and checked on the rest.

    With --fleet one sustain time is found for the traces of many devices, each with a file in FOLDER. The report shows
    what each device loses by it. With --write an interrupted run can be continued.

    With --pace nothing is tuned: it shows how a session that keeps a rate would have run.

    Exit code 0: a profile is advised; 1: the limits are impossible, or break on a part of the recording, or with
    --verify the controller did something else; 2: the trace can't be read, or has no gap, or no trace of a fleet can be
    read. With --pace: 0 if no more deadlines were missed than allowed, else 1.
    """
    file, page, folder, form = (options[name] for name in ("file", "page", "folder", "form"))
    limits = _limits(options["limits"])
    if file is None and options["fleet"] is not None:
        refuse_given(ctx, ("pace", *OF_A_PACE), "one trace")
        run_fleet(ctx, limits, options)
        return
    if file is None or options["fleet"] is not None:
        raise click.UsageError("name a TRACE, or --fleet FOLDER")
    refuse_given(ctx, OF_A_FLEET, "--fleet")
    if options["pace"] is not None:
        run_pace(ctx, options)
        return
    refuse_given(ctx, OF_A_PACE, "--pace")
    with needs_extra("tune"):
        from htppower.tools.review.tuning.forms import render  # noqa: PLC0415 - not needed for a usage error
        from htppower.tools.tuning.models.file import load_device_model  # noqa: PLC0415 - as above
        from htppower.tools.tuning.traces.read import read_trace  # noqa: PLC0415 - numpy is not needed for a usage error
        from htppower.tools.tuning.tune import Question, chosen, tune  # noqa: PLC0415 - as above

    outputs = (*options["outputs"], *([] if page is None else [("html", page)]))
    asked = ("break_even_us", "measured_under", "folders", "most_us", "settings", "verify", "within")
    question = Question(limits=limits, profiles=options["names"], **{name: options[name] for name in asked})
    model = load_device_model(options["device"], options["folders"])
    with shown_progress() as progress:
        progress.begin(f"reading {file}", size_of(file))
        read = {"format": options["kind"], "name": options["name"], "unit": options["unit"]}
        trace = read_trace(file, **read, stream=stream_of(file), progress=progress.add)
        progress.begin("tuning", 1.0)
        tuning = tune(chosen(trace, options["sessions"]), model, question, progress.at)
    profiles = {} if folder is None else _profiles(tuning, folder)
    document = write_outputs(
        outputs, form, lambda form, width: render(tuning, form, width), profiles, force=options["force"]
    )
    for path in profiles:
        echo(f"wrote {path}", err=True)
    print_document(document, form)
    if not tuning.equal or any(each.best is None for each in tuning.sessions):
        ctx.exit(REFUSED)


def _limits(texts: tuple[str, ...]) -> tuple[Limit, ...]:
    try:
        return tuple(map(parse_limit, texts))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--limit") from None


def _profiles(tuning: Tuning, folder: Path) -> dict[str, File]:
    """Return the advised profiles, by the paths of their new files."""
    from htppower.tools.tuning.profile_file import profile_text, tuned_name  # noqa: PLC0415 - only to write

    advised = [each for each in tuning.sessions if each.best is not None]
    files = {
        joined(folder, f"{tuned_name(each.advice.session.name)}.yaml"): File(
            profile_text(tuning, each), Sort.KEPT, folder=str(folder)
        )
        for each in advised
    }
    if len(files) < len(advised):
        raise click.UsageError("two sessions have the same name for a profile; name one by --session")
    return files

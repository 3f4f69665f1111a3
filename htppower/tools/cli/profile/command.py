"""``htppower profile``: hold a profile up on the device, or dry-run a workload under it and show every vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from htppower.errors import BackendUnavailable, printable
from htppower.tools.cli import completion
from htppower.tools.cli.forms import FormAndFile, form_of
from htppower.tools.cli.help import DEVICE, DRY_RUN, OUTPUT, Command, option
from htppower.tools.cli.options import folders_option, format_option, library_option, refuse_given, refuse_soc_with_arch
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.parameter_types import ClockSourceType, Duration, WholeNumber
from htppower.tools.cli.sdk import of_sdk, sdk_option
from htppower.tools.cli.terminal import echo
from htppower.tools.cli.workload import OF_A_WORKLOAD, simulated_htp, workload, workload_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from htppower.backends.base import Backend
    from htppower.profiles.profile import Profile

# The same as in tools/review/dry_run/forms.py, which a run on the device does not need.
_FORMS = ("text", "json", "svg", "html", "trace")
BACKEND = click.Choice(["qnn", "simulated"])
FOR = Duration(1, 31_536_000_000_000)
ID = WholeNumber(0, 2**32 - 1)
# The simulated HTP has as many devices and cores as are named, up to four. So a mistyped number is refused, as the
# vendor's library refuses a core that a device lacks (13001).
MOST_SIMULATED = 3

# The key in a context that keeps whether ``--`` was given.
_SEPARATOR = f"{__name__}.separator"
# The parameters that are only for a dry run, and those that are only for a run on the device.
_OF_A_WORKLOAD = (*OF_A_WORKLOAD, "form", "outputs")
_OF_A_LIVE_RUN = ("for_us", "library", "device_id", "core_ids", "clock")


class _WithCommandLine(Command):
    """Accepts a command after ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, separator, command = args, False, []
        if "--" in args:
            place = args.index("--")
            own, separator, command = args[:place], True, args[place + 1 :]
        if separator and not command and not ctx.resilient_parsing:
            ctx.fail("no command after --; leave -- out to hold the profile up until Ctrl-C")
        ctx.obj = tuple(command)
        ctx.meta[_SEPARATOR] = separator
        try:
            return super().parse_args(ctx, own)
        except click.UsageError as error:
            if not separator and error.message.startswith(("No such option", "Got unexpected extra")):
                ctx.fail(f"{error.format_message().rstrip('.')}; a command comes after --")
            raise

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ARGS...]"]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # Click would also offer the options of ``htppower profile`` after the other command.
        if ctx.meta[_SEPARATOR]:
            return completion.files(ctx, self.params[0], incomplete)
        return super().shell_complete(ctx, incomplete)


@click.command(name="profile", cls=_WithCommandLine, example="htppower profile burst -- python3 host.py")
@click.argument("profile", metavar="NAME|PATH", shell_complete=completion.profiles)
@option("--for", "for_us", type=FOR, group=DEVICE, help="Hold the profile up for this long, such as 500ms or 60s.")
@option("--dry-run", is_flag=True, group=DRY_RUN, help="Simulate in virtual time, and send nothing to hardware.")
@workload_options
@format_option(_FORMS)
@option(
    "--output",
    "outputs",
    type=FormAndFile(_FORMS, bare=True),
    multiple=True,
    group=OUTPUT,
    help="Write the report to a file, whole or not at all. A bare FILE has the form of its suffix, or else of "
    "--format; nothing is printed then, unless --format names another form. With FORM=FILE the report is printed, "
    "too. May be repeated.",
)
@option("--backend", type=BACKEND, group=DEVICE, help="Use this backend.  [default: qnn]")
@library_option()
@option("--device", "device_id", type=ID, default=0, show_default=True, group=DEVICE, help="Vote on this device.")
@option(
    "--core",
    "core_ids",
    type=ID,
    multiple=True,
    default=(0,),
    group=DEVICE,
    help="Vote on this core; may be repeated.  [default: 0]",
)
@option(
    "--clock",
    type=ClockSourceType(),
    group=DEVICE,
    help="Also measure the clock or the power, for htppower status: by qcnpuperf, file:PATH, hwmon or meter:RAIL.",
)
@sdk_option("Use the profile from the vendor's table of this SDK, such as 2.25.")
@folders_option("Also look for profiles in this folder; may be repeated.")
def command(**options: Any) -> None:
    """Hold a profile up while a command runs, or until Ctrl-C; with --dry-run, show every vote that it sends.

    On the device the profile is raised and the command is run. When it ends, even by a failure, the votes are lowered
    and the power config ids destroyed. Signals are passed on, and the command's exit code is returned.

    A dry run is INIT, some inferences and DE-INIT. INIT and DE-INIT take as long as one inference. After the last
    inference the run idles until the sustain timer has expired. --backend simulated does the same in real time.
    """
    ctx = click.get_current_context()
    options["command_line"] = ctx.obj
    live = not options["dry_run"] and (_asks_to_hold(options) or options["backend"] != "simulated")
    _check_options(ctx, live=live)
    from htppower.profiles.loading import load_profile  # noqa: PLC0415 - not needed for a usage error

    profile = load_profile(of_sdk(options["profile"], options["sdk"]), options["folders"])
    if live:
        ctx.exit(_hold_on_device(profile, options))
    _show_dry_run(profile, options)


def _asks_to_hold(options: dict[str, Any]) -> bool:
    """Return whether the options set how long the profile is to be held up."""
    return options["for_us"] is not None or bool(options["command_line"])


def _check_options(ctx: click.Context, *, live: bool) -> None:
    options = {**ctx.params, "command_line": ctx.obj}
    if options["backend"] == "simulated" and options["library"] is not None:
        raise click.UsageError("--library is for the vendor's library; leave it out with --backend simulated")
    if options["backend"] == "simulated" and max(*options["core_ids"], options["device_id"], 0) > MOST_SIMULATED:
        raise click.UsageError(f"the simulated HTP has devices and cores up to {MOST_SIMULATED} here")
    if options["dry_run"] and options["backend"] is not None:
        raise click.UsageError("--dry-run chooses the simulated HTP in virtual time; leave --backend out")
    if options["dry_run"] and options["command_line"]:
        raise click.UsageError("--dry-run runs no command; leave it out")
    if options["for_us"] is not None and options["command_line"]:
        raise click.UsageError("the profile is up for as long as the command runs; leave --for out")
    refuse_soc_with_arch(options)
    if len(set(options["core_ids"])) < len(options["core_ids"]):
        raise click.UsageError("--core names a core twice")
    if live:
        refuse_given(ctx, _OF_A_WORKLOAD, "a dry run", "leave it out" if _asks_to_hold(options) else "add --dry-run")
    else:
        refuse_given(ctx, _OF_A_LIVE_RUN, "a run on the device")


def _show_dry_run(profile: Profile, options: dict[str, Any]) -> None:
    from htppower.tools.review.dry_run.forms import render  # noqa: PLC0415 - not needed to hold a profile up
    from htppower.tools.review.dry_run.workload import run  # noqa: PLC0415 - as above

    report = run(profile, simulated_htp(options), workload(options), virtual=options["dry_run"])

    def make(form: str, width: int) -> str:
        return render(report, form, options["folders"], width)

    form = options["form"]
    alone = [form_of(path, _FORMS) or form for own, path in options["outputs"] if not own]
    outputs = [(own or form_of(path, _FORMS) or form, path) for own, path in options["outputs"]]
    document = write_outputs(outputs, form, make)
    named = click.get_current_context().get_parameter_source("form") is not ParameterSource.DEFAULT
    if not alone or (named and form not in alone):
        print_document(document, form)


def _hold_on_device(profile: Profile, options: dict[str, Any]) -> int:
    from htppower.tools.cli.profile.hold import Holding, hold  # noqa: PLC0415
    from htppower.tools.cli.profile.process import CommandFailed  # noqa: PLC0415
    from htppower.tools.cli.terminal import kept_off_stdout  # noqa: PLC0415

    seconds = None if options["for_us"] is None else options["for_us"] / 1_000_000
    holding = Holding(
        profile, options["device_id"], options["core_ids"], options["command_line"], seconds, options["clock"]
    )

    def open_backend() -> Backend:
        if options["backend"] == "simulated":
            from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415

            cores = max(options["core_ids"]) + 1
            return SimulatedHtp(None, options["soc"], devices=options["device_id"] + 1, cores=cores)
        from htppower.backends.qnn.htp import QnnHtp  # noqa: PLC0415

        return QnnHtp(options["library"], options["soc"])

    with kept_off_stdout() as stdout:
        try:
            return hold(holding, open_backend, stdout)
        except BackendUnavailable as error:
            if _asks_to_hold(options):
                raise
            hint = f"{error.hint and f'{error.hint}; '}with --dry-run its votes are shown without a library"
            raise BackendUnavailable(
                error.reason, error.message, hint=hint, tried=error.tried, code=error.code
            ) from None
        except CommandFailed as failed:
            echo(f"htppower: {printable(str(failed))}", err=True)
            return failed.code

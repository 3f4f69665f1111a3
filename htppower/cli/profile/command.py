"""``htppower profile``: hold a profile up on the device, or dry-run a workload under it and show every vote."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click

from htppower.cli.options import (
    OF_A_WORKLOAD,
    folders_option,
    format_option,
    refuse_given,
    refuse_soc_with_arch,
    simulated_htp,
    workload,
    workload_options,
)
from htppower.cli.outputs import print_document
from htppower.cli.terminal import echo
from htppower.errors import printable
from htppower.review.dry_run.formats import NAMES, render
from htppower.review.layout import terminal_width

if TYPE_CHECKING:
    from htppower.backends.base import Backend
    from htppower.profiles.profile import Profile

BACKEND = click.Choice(["qnn", "simulated"])
LIBRARY = click.Path()
SECONDS = click.FloatRange(0, 31_536_000, min_open=True)
ID = click.IntRange(0, 2**32 - 1)
MOST_SIMULATED = 63

# The parameters of a dry run only, and of a run on the device only.
_OF_A_WORKLOAD = (*OF_A_WORKLOAD, "form")
_OF_A_LIVE_RUN = ("seconds", "library", "device_id", "core_ids")


class _WithCommandLine(click.Command):
    """Takes a command after ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, separator, command = args, False, []
        if "--" in args:
            place = args.index("--")
            own, separator, command = args[:place], True, args[place + 1 :]
        if separator and not command:
            ctx.fail("no command after --; leave -- out to hold the profile up until Ctrl-C")
        ctx.obj = tuple(command)
        try:
            return super().parse_args(ctx, own)
        except click.UsageError as error:
            if not separator and error.message.startswith(("No such option", "Got unexpected extra")):
                ctx.fail(f"{error.format_message().rstrip('.')}; a command comes after --")
            raise

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ARGS...]"]


@click.command(name="profile", cls=_WithCommandLine)
@click.argument("profile", metavar="NAME|PATH")
@click.option("--for", "seconds", type=SECONDS, metavar="SECONDS", help="Hold the profile up for this long.")
@click.option("--dry-run", is_flag=True, help="Simulate, in virtual time; nothing is sent to hardware.")
@workload_options
@format_option(NAMES, "Of the report.")
@click.option("--backend", type=BACKEND, help="Vote on this.  [default: qnn]")
@click.option("--library", type=LIBRARY, metavar="FILE", help="The vendor's library, instead of looking for it.")
@click.option("--device", "device_id", type=ID, default=0, show_default=True, help="Vote on this device.")
@click.option("--core", "core_ids", type=ID, multiple=True, default=(0,), help="Vote on this core; may be repeated.")
@folders_option("Look for profiles here, too.")
def command(**options: Any) -> None:
    """Hold a profile up while a command runs, or until Ctrl-C; with --dry-run, show every vote that it casts.

    On the device the profile is raised, the command is run, and at its end, whichever that is, the votes are lowered
    and the power config ids destroyed. Signals are passed on, and the command's exit code is returned.

    A dry run is INIT, some inferences and DE-INIT. INIT and DE-INIT take as long as one inference; after the last
    inference the run idles until the sustain timer has run out. --backend simulated does the same in real time.
    """
    ctx = click.get_current_context()
    options["command_line"] = ctx.obj
    live = options["seconds"] is not None or bool(options["command_line"]) or options["backend"] != "simulated"
    live = live and not options["dry_run"]
    _check_options(ctx, live=live)
    from htppower.profiles.loading import load_profile  # noqa: PLC0415 - a usage error need not wait for it

    profile = load_profile(options["profile"], options["folders"])
    if live:
        ctx.exit(_hold_on_device(profile, options))
    _show_dry_run(profile, options)


def _check_options(ctx: click.Context, *, live: bool) -> None:
    options = {**ctx.params, "command_line": ctx.obj}
    if options["backend"] == "simulated" and options["library"] is not None:
        raise click.UsageError("--library is the vendor's; leave it out with --backend simulated")
    if options["backend"] == "simulated" and max(*options["core_ids"], options["device_id"], 0) > MOST_SIMULATED:
        raise click.UsageError(f"the simulated HTP has devices and cores up to {MOST_SIMULATED} here")
    if options["dry_run"] and options["backend"] is not None:
        raise click.UsageError("--dry-run chooses the simulated HTP in virtual time; leave --backend out")
    if options["dry_run"] and options["command_line"]:
        raise click.UsageError("--dry-run runs no command; leave it out")
    if options["seconds"] is not None and options["command_line"]:
        raise click.UsageError("the profile is up for as long as the command runs; leave --for out")
    refuse_soc_with_arch(options)
    if len(set(options["core_ids"])) < len(options["core_ids"]):
        raise click.UsageError("--core names a core twice")
    if live:
        refuse_given(ctx, _OF_A_WORKLOAD, "a dry run")
    else:
        refuse_given(ctx, _OF_A_LIVE_RUN, "a run on the device")


def _show_dry_run(profile: Profile, options: dict[str, Any]) -> None:
    from htppower.review.dry_run.workload import run  # noqa: PLC0415

    if not options["dry_run"]:
        gc.enable()  # it is off at start-up; this run takes as long as its workload
    report = run(profile, simulated_htp(options), workload(options), virtual=options["dry_run"])
    document = render(report, options["form"], options["folders"], terminal_width())
    print_document(document, options["form"])


def _hold_on_device(profile: Profile, options: dict[str, Any]) -> int:
    gc.enable()  # it is off at start-up; this run takes as long as its command
    from htppower.cli.profile.child import CommandFailed  # noqa: PLC0415
    from htppower.cli.profile.hold import Holding, hold  # noqa: PLC0415
    from htppower.cli.vendor_output import kept_off_stdout  # noqa: PLC0415

    holding = Holding(profile, options["device_id"], options["core_ids"], options["command_line"], options["seconds"])

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
        except CommandFailed as failed:
            echo(f"htppower: {printable(str(failed))}", err=True)
            return failed.code

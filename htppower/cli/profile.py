"""``htppower profile``: run a workload under a profile and show every vote."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import click

from htppower.cli import FOLDER
from htppower.platforms import OPERATING_SYSTEMS

if TYPE_CHECKING:
    from htppower.cli.workload import Pace

# The SoC of a dry run that names none.
DEFAULT_SOC = "SM8650"


COUNT = click.IntRange(0, 10_000)
DURATION_US = click.IntRange(0, 3_600_000_000)
SYSTEM = click.Choice(OPERATING_SYSTEMS)
FORMAT = click.Choice(["text", "json"])
BACKEND = click.Choice(["qnn", "simulated"])


@click.command(name="profile")
@click.argument("profile", metavar="NAME|PATH")
@click.option("--dry-run", is_flag=True, help="Simulate, in virtual time; nothing is sent to hardware.")
@click.option("--soc", metavar="NAME", help=f"SoC by part or model number.  [default: {DEFAULT_SOC}]")
@click.option("--arch", metavar="ARCH", help="Hexagon architecture, such as V75, instead of a SoC.")
@click.option("--platform", type=SYSTEM, default="linux", show_default=True, help="Operating system.")
@click.option("--inferences", type=COUNT, default=3, show_default=True, help="How many inferences.")
@click.option("--inference-us", type=DURATION_US, default=5000, show_default=True, help="How long each takes.")
@click.option("--gap-us", type=DURATION_US, default=10_000, show_default=True, help="Idle time before each.")
@click.option("--format", "form", type=FORMAT, default="text", show_default=True, help="Of the report.")
@click.option("--backend", type=BACKEND, help="Run in real time on this.  [default: qnn]")
@click.option("--profiles", "folders", multiple=True, type=FOLDER, metavar="DIR", help="Look for profiles here, too.")
def command(
    profile: str,
    dry_run: bool,
    soc: str | None,
    arch: str | None,
    platform: str,
    inferences: int,
    inference_us: int,
    gap_us: int,
    form: str,
    backend: str | None,
    folders: tuple[str, ...],
) -> None:
    """Run INIT, some inferences and DE-INIT under a profile, and show every vote that it casts.

    INIT and DE-INIT take as long as one inference; after the last inference the run idles until the sustain timer has
    run out.
    """
    if dry_run and backend is not None:
        raise click.UsageError("--dry-run chooses the simulated HTP in virtual time; leave --backend out")
    if soc is not None and arch is not None:
        raise click.UsageError("--soc says which architecture it is; leave --arch out")
    from htppower.profiles import load_profile  # noqa: PLC0415 - a usage error need not wait for it

    loaded = load_profile(profile, folders)
    if not dry_run and backend != "simulated":
        from htppower.backends import named_backend  # noqa: PLC0415

        named_backend("qnn")
    from htppower.backends.simulated import SimulatedHtp  # noqa: PLC0415
    from htppower.cli.workload import Workload, run  # noqa: PLC0415

    simulated = SimulatedHtp(arch, soc if soc is not None or arch is not None else DEFAULT_SOC, platform)
    report = run(loaded, simulated, Workload(inferences, inference_us, gap_us), _pace(dry_run), virtual=dry_run)
    if form == "json":
        from htppower.cli.report_json import as_json  # noqa: PLC0415

        click.echo(as_json(report))
    else:
        from htppower.cli.report_text import as_text  # noqa: PLC0415

        click.echo(as_text(report))


def _pace(virtual: bool) -> Pace:
    if virtual:
        from htppower.cli.workload import VirtualPace  # noqa: PLC0415
        from htppower.testing import VirtualTime  # noqa: PLC0415

        return VirtualPace(VirtualTime())
    gc.enable()  # start-up has it off; this run takes as long as its workload
    from htppower.cli.workload import RealPace  # noqa: PLC0415
    from htppower.sustain import SystemTime  # noqa: PLC0415

    return RealPace(SystemTime())

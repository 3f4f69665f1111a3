"""``htppower tune --fleet``: one sustain time for many devices, from a folder of their traces."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.profiles.field_limits import NAME_PATTERN
from htppower.profiles.loading import load_profile
from htppower.profiles.regular_file import note_opened, noting_opened_files
from htppower.profiles.sustain import Adaptive
from htppower.profiles.yaml_text import profile_name
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.cli.help import FLEET, REFUSED, WHAT, option
from htppower.tools.cli.options import refuse_given
from htppower.tools.cli.outputs import File, Sort, print_document, write_files, write_outputs
from htppower.tools.cli.parameter_types import Duration, WholeNumber
from htppower.tools.cli.progress import shown_progress
from htppower.tools.cli.terminal import echo
from htppower.tools.cli.trace import needs_extra
from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from htppower.tools.review.tuning.fleet_report import FleetReport
    from htppower.tools.tuning.fleet.reading import Reader
    from htppower.tools.tuning.fleet.settle import Aim
    from htppower.tools.tuning.limits import Limit

_DEFAULT_PROFILE = "burst"
# The parameters of the command that a fleet does not use, and those that only a fleet uses.
_OF_ONE_TRACE = ("kind", "name", "unit", "measured_under", "settings", "verify", "page")
_TLS = ("tls_ca", "tls_cert", "tls_key")
OF_A_FLEET = ("pattern", "jobs", "file_timeout_us", "scheduler", *_TLS)
_MOST_JOBS = 1024
_LONGEST_TIMEOUT_US = 24 * 3_600_000_000
_US = 1_000_000
_INSTALL = "pip install 'htppower[fleet]'"
_FLEET_OPTIONS = (
    option(
        "--fleet",
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        group=WHAT,
        help="Tune one profile for all traces in this folder and its subfolders, one device for each.",
    ),
    option(
        "--files",
        "pattern",
        metavar="PATTERN",
        default="*",
        group=FLEET,
        help="Only files with names such as '*.json'.",
    ),
    option(
        "--jobs",
        type=WholeNumber(1, _MOST_JOBS),
        default=1,
        show_default=True,
        group=FLEET,
        help="Read in this many processes on this machine.",
    ),
    option(
        "--file-timeout",
        "file_timeout_us",
        type=Duration(1_000, _LONGEST_TIMEOUT_US),
        default="5min",
        show_default=True,
        group=FLEET,
        help="Leave out a file that takes longer to read.",
    ),
    option("--scheduler", metavar="ADDRESS", group=FLEET, help="Read on the Dask cluster of this scheduler."),
    *(
        option(
            f"--tls-{what}",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False),
            group=FLEET,
            help=f"Connect to the scheduler by TLS: {does}, in PEM.",
        )
        for what, does in (
            ("ca", "the certificate of the cluster's authority"),
            ("cert", "the certificate of this client"),
            ("key", "the key of that certificate"),
        )
    ),
)


def fleet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a fleet to a command: ``fleet``, and those in ``OF_A_FLEET``."""
    for each in reversed(_FLEET_OPTIONS):
        command = each(command)
    return command


def run_fleet(ctx: click.Context, limits: Sequence[Limit], options: dict[str, Any]) -> None:
    """Print the best choice for a fleet, and write its files, by the options of ``htppower tune``.

    Raises:
        click.UsageError: an option is for one trace, or does not go together with another.
        HtpPowerError: no file can be read, the cluster fails, or a profile or device model can't be used.
        OSError: a file can't be written.
    """
    names, folder, form, outputs = (options[name] for name in ("names", "folder", "form", "outputs"))
    refuse_given(ctx, _OF_ONE_TRACE, "one trace")
    if len(names) > 1:
        raise click.UsageError("for a fleet one profile is tuned; name one --profile")
    if "html" in {form, *(each for each, _ in outputs)}:
        raise click.UsageError("a fleet has no page; choose text or json")
    with needs_extra("tune"):
        from htppower.tools.tuning.fleet.settle import Aim  # noqa: PLC0415 - numpy is not needed for a usage error
        from htppower.tools.tuning.models.costs import lowered_idle_w, raised_idle_w  # noqa: PLC0415 - as above

    profile = load_profile(names[0] if names else _DEFAULT_PROFILE, folders=options["folders"])
    if profile.relax is None:
        raise click.UsageError(f"{profile.name} sends no votes, so nothing stays up; name another --profile")
    model = load_device_model(options["device"], options["folders"])
    document = ""

    def render(report: FleetReport, form: str, width: int) -> str:
        return report.as_json() if form == "json" else report.as_text(width)

    def write(report: FleetReport, profiles: Mapping[str, File]) -> None:
        nonlocal document
        document = write_outputs(outputs, form, functools.partial(render, report), profiles, force=options["force"])

    report = tune_fleet(
        options["fleet"],
        extends=profile.name,
        aim=Aim(_most_cold_ppm(limits), options["most_us"], options["within"]),
        profile=None if folder is None else folder / f"{profile_name(f'{profile.name}_fleet')}.yaml",
        saved_w=raised_idle_w(model, profile) - lowered_idle_w(model, profile.relax.to),
        write=write,
        **{name: options[name] for name in ("break_even_us", "sessions", "device", *OF_A_FLEET)},
    )
    print_document(document, form)
    if not report.settled.keeps:
        ctx.exit(REFUSED)


def _most_cold_ppm(limits: Sequence[Limit]) -> int | None:
    """Return the least share of cold starts of all limits, in millionths."""
    other = next((each for each in limits if each.measure != "cold"), None)
    if other is not None:
        raise click.UsageError(f"--limit '{other}' is for one trace; a fleet can keep 'cold <= 5 %'")
    return min((int(each.most * 1_000_000) for each in limits), default=None)


def tune_fleet(
    folder: Path,
    *,
    extends: str,
    break_even_us: int,
    aim: Aim | None = None,
    pattern: str = "*",
    sessions: tuple[str, ...] = (),
    form: str | None = None,
    jobs: int = 1,
    file_timeout_us: int | None = None,
    scheduler: str | None = None,
    tls_ca: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    profile: Path | None = None,
    device: str | None = None,
    saved_w: float | None = None,
    write: Callable[[FleetReport, Mapping[str, File]], None] = lambda _, profiles: write_files(profiles),
) -> FleetReport:
    """Return the best choice for the devices whose traces are in a folder, and write the profile.

    Args:
        folder: the folder of the traces.
        extends: the profile that is tuned, by name.
        break_even_us: its break-even time on the devices.
        aim: the aim that the sustain time must keep; None for no aim.
        pattern: the pattern of the files' names.
        sessions: the names of the sessions; empty for all sessions.
        form: the format of the files; None to detect it.
        jobs: how many processes read.
        file_timeout_us: the longest time to read a file, in us, else it is left out; None: no limit.
        scheduler: the address of a Dask scheduler whose workers read.
        tls_ca: the certificate of the cluster's authority, to connect by TLS; None connects without TLS.
        tls_cert: the certificate of this client.
        tls_key: the key of that certificate.
        profile: the file to write. A file next to it with the ending ``.gaps.jsonl`` keeps the content of the traces.
        device: the device model that the report names.
        saved_w: the power in W that lowering the votes saves, according to the device model.
        write: writes the profile, by its path, and all other files of the report.

    Raises:
        click.UsageError: two options do not go together, or the profile's file has no name for a profile.
        HtpPowerError: no file can be read, the cluster fails, or the kept file is something else.
        OSError: the profile can't be written.
    """
    read = _reader(jobs, file_timeout_us, scheduler, (tls_ca, tls_cert, tls_key))
    name = None if profile is None else _name(profile)
    from htppower.tools.review.tuning.fleet_report import FleetReport  # noqa: PLC0415
    from htppower.tools.tuning.fleet.files import trace_files  # noqa: PLC0415
    from htppower.tools.tuning.fleet.fleet import read_fleet  # noqa: PLC0415
    from htppower.tools.tuning.fleet.records import Question  # noqa: PLC0415
    from htppower.tools.tuning.fleet.settle import ANY, settle  # noqa: PLC0415

    aim = aim or ANY
    learnt = [Adaptive(break_even_us, most_us=min(aim.most_us, 2 * max(break_even_us, SHORTEST_SUSTAIN_US)))]
    if aim.most_cold_ppm is not None:
        learnt.append(Adaptive(cold_starts_ppm=aim.most_cold_ppm, most_us=aim.most_us))
    question = Question(break_even_us, tuple(learnt), sessions, form, str(folder.absolute()))
    results = None if profile is None else profile.with_name(f"{profile.stem}.gaps.jsonl")
    files = trace_files(folder, pattern, but=[each for each in (profile, results) if each is not None])
    # A file that is not a trace may be an earlier report, which may be replaced. The traces are noted below.
    with _said_where_it_is_kept(results), noting_opened_files(), shown_progress() as progress:
        progress.begin("reading traces", len(files), "files")
        fleet = read_fleet(files, question, read=read, results=results, progress=progress.add)
        progress.begin("choosing a sustain time")
        settled = settle(fleet.answers, question, aim)
    answered = {each.file for each in fleet.answers}
    report = FleetReport(str(folder), question, extends, aim, fleet, settled, device, saved_w)
    for each in files:
        for part in each.parts if each in answered else ():
            with contextlib.suppress(OSError):
                note_opened(os.stat(part))
    if profile is None or name is None:
        write(report, {})
    else:
        write(report, {str(profile): File(report.as_profile(name), Sort.KEPT, folder=str(profile.parent))})
        _tell(f"wrote {profile}; {results} keeps what was read")
    return report


def _name(profile: Path) -> str:
    if not re.fullmatch(NAME_PATTERN, profile.stem) or profile.suffix not in {".yaml", ".yml"}:
        raise click.UsageError(f"{profile} is not a file name of a profile; use one such as fleet.yaml")
    return profile.stem


def _reader(jobs: int, timeout_us: int | None, scheduler: str | None, tls: tuple[str | None, ...]) -> Reader:
    """Return the function that reads the files.

    Raises:
        click.UsageError: two options do not go together, one lacks another, or Dask is not installed.
    """
    timeout_s = None if timeout_us is None else timeout_us / _US
    if scheduler is None:
        if any(tls):
            raise click.UsageError("--tls-ca, --tls-cert and --tls-key are for a --scheduler; leave them out")
        if jobs > 1:
            from htppower.tools.tuning.fleet.processes import in_processes  # noqa: PLC0415 - numpy

            return in_processes(jobs, timeout_s)
        from htppower.tools.tuning.fleet.reading import read_here  # noqa: PLC0415 - numpy

        return functools.partial(read_here, timeout_s=timeout_s)
    if jobs > 1:
        raise click.UsageError("--jobs is for this machine, and --scheduler for a cluster; leave one out")
    from htppower.tools.tuning.fleet.on_dask import Tls, has_dask, on_cluster  # noqa: PLC0415 - numpy

    if not has_dask():
        raise click.UsageError(f"--scheduler needs Dask: {_INSTALL}")
    ca, cert, key = tls
    if ca is not None and cert is not None and key is not None:
        return on_cluster(scheduler, _tell, tls=Tls(ca, cert, key), timeout_s=timeout_s)
    if any(tls) or scheduler.startswith("tls://"):
        raise click.UsageError("TLS needs all of --tls-ca, --tls-cert and --tls-key")
    return on_cluster(scheduler, _tell, timeout_s=timeout_s)


def _tell(text: str) -> None:
    echo(f"htppower: {text}", err=True)


@contextlib.contextmanager
def _said_where_it_is_kept(results: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if results is not None:
            _tell(f"the traces read so far are kept in {results}: the same command continues from there")
        raise

"""``htppower tune --fleet``: one sustain time for many devices, from a folder of their traces."""

from __future__ import annotations

import contextlib
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.cli.help import FLEET, WHAT, option
from htppower.cli.options import WholeNumber
from htppower.cli.outputs import write_files
from htppower.cli.terminal import echo, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from htppower.review.fleet_report import FleetReport
    from htppower.tuning.fleet.one_process import Reader
    from htppower.tuning.fleet.settle import Aim

_MOST_JOBS = 1024
_INSTALL = "pip install 'htppower[fleet]'"
_FLEET_OPTIONS = (
    option(
        "--fleet",
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        group=WHAT,
        help="Tune one profile for all traces in this folder and below, a device each.",
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
        help="Read in so many processes of this machine; more than one takes Dask.",
    ),
    option("--scheduler", metavar="ADDRESS", group=FLEET, help="Read on the Dask cluster of this scheduler."),
)


def fleet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a fleet to a command: ``fleet``, ``pattern``, ``jobs`` and ``scheduler``."""
    for each in reversed(_FLEET_OPTIONS):
        command = each(command)
    return command


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
    scheduler: str | None = None,
    profile: Path | None = None,
    device: str | None = None,
    saved_w: float | None = None,
) -> FleetReport:
    """Return what is best for the devices whose traces are in a folder, and write the profile.

    Args:
        folder: where the traces are.
        extends: the profile that is tuned, by name.
        break_even_us: its break-even time on the devices.
        aim: what the sustain time must keep to; None is nothing.
        pattern: which files.
        sessions: only the sessions of these names; all where there is none.
        form: the format of the files; None is found out.
        jobs: how many processes read.
        scheduler: the address of a Dask scheduler whose workers read.
        profile: the file that is written; beside it a file with the ending ``.gaps.jsonl`` keeps what was read.
        device: the device model, to be named.
        saved_w: by that model, the power that lowering the votes of the profile saves, in W.

    Raises:
        click.UsageError: two options do not go together, or the profile's file has no name for a profile.
        HtpPowerError: no file can be read, the cluster fails, or what was kept is something else.
        OSError: the profile can't be written.
    """
    if scheduler is not None and jobs > 1:
        raise click.UsageError("--jobs is for this machine, and --scheduler for a cluster; leave one out")
    name = None if profile is None else _name(profile)
    gc.enable()  # start-up has it off; a fleet is thousands of files
    from htppower.profiles.sustain import Adaptive  # noqa: PLC0415 - a usage error need not wait for numpy
    from htppower.review.fleet_report import FleetReport  # noqa: PLC0415
    from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US  # noqa: PLC0415
    from htppower.tuning.fleet.files import trace_files  # noqa: PLC0415
    from htppower.tuning.fleet.fleet import read_fleet  # noqa: PLC0415
    from htppower.tuning.fleet.records import Question  # noqa: PLC0415
    from htppower.tuning.fleet.settle import ANY, settle  # noqa: PLC0415

    aim = aim or ANY
    learnt = [Adaptive(break_even_us, most_us=min(aim.most_us, 2 * max(break_even_us, SHORTEST_SUSTAIN_US)))]
    if aim.most_cold_ppm is not None:
        learnt.append(Adaptive(cold_starts_ppm=aim.most_cold_ppm, most_us=aim.most_us))
    question = Question(break_even_us, tuple(learnt), sessions, form)
    results = None if profile is None else profile.with_name(f"{profile.stem}.gaps.jsonl")
    files = trace_files(folder, pattern, but=[each for each in (profile, results) if each is not None])
    read = _reader(jobs, scheduler)
    with _progress(len(files)) as progress, _said_where_it_is_kept(results):
        fleet = read_fleet(files, question, read=read, results=results, progress=progress)
    settled = settle(fleet.answers, question, aim)
    report = FleetReport(str(folder), question, extends, aim, fleet, settled, device, saved_w)
    if profile is not None and name is not None:
        write_files({profile: report.as_profile(name)})
        _tell(f"wrote {profile}; {results} keeps what was read")
    return report


def _name(profile: Path) -> str:
    """Return the name of the profile that a file is for."""
    import re  # noqa: PLC0415 - only here

    from htppower.profiles.field_limits import NAME_PATTERN  # noqa: PLC0415

    if not re.fullmatch(NAME_PATTERN, profile.stem) or profile.suffix not in {".yaml", ".yml"}:
        raise click.UsageError(f"{profile} is no file of a profile; name it such as fleet.yaml")
    return profile.stem


def _reader(jobs: int, scheduler: str | None) -> Reader:
    from htppower.tuning.fleet.on_dask import has_dask, on_cluster, on_this_machine  # noqa: PLC0415 - numpy
    from htppower.tuning.fleet.one_process import read_here  # noqa: PLC0415

    if scheduler is None and jobs == 1:
        return read_here
    if has_dask():
        return on_this_machine(jobs) if scheduler is None else on_cluster(scheduler, _tell)
    if scheduler is not None:
        raise click.UsageError(f"--scheduler needs Dask: {_INSTALL}")
    _tell(f"one process reads, since Dask is not installed: {_INSTALL}")
    return read_here


def _tell(text: str) -> None:
    echo(f"htppower: {text}", err=True)


@contextlib.contextmanager
def _progress(files: int) -> Iterator[Callable[[int], None]]:
    """Yield what is told how many files more are done: a bar on a terminal."""
    if not is_terminal(err=True):
        yield lambda _: None
        return
    with click.progressbar(length=files, label="reading traces", show_pos=True, file=sys.stderr) as bar:
        yield bar.update


@contextlib.contextmanager
def _said_where_it_is_kept(results: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if results is not None:
            _tell(f"what was read is kept in {results}: the same command goes on from there")
        raise

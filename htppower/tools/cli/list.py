"""``htppower list``: the profiles, one in each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from htppower.errors import ProfileError, RuleBreach, printable
from htppower.profiles.discovery import Folders
from htppower.profiles.fields import limits
from htppower.profiles.loading import load_profiles, load_records
from htppower.profiles.paths import stem_of
from htppower.profiles.profile import file_of, is_held
from htppower.profiles.sustain import Adaptive, first_us
from htppower.tools.cli.help import WHAT, Command, option
from htppower.tools.cli.options import folders_option, format_option
from htppower.tools.cli.sdk import sdk_option
from htppower.tools.cli.terminal import echo
from htppower.tools.report.layout import NONE, table, terminal_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.review.sustain_words import sustain_in_short

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

FORMAT_VERSION = 1
_HEADINGS = ("name", "corner", "sleep", "polling", "sustain", "relaxes to", "summary")


@attrs.frozen
class Line:
    """A profile in one line; None for fields without a vote.

    A learnt sustain time is in ``learnt``, and its first value in ``sustain_us``.
    """

    name: str
    corner: str | None
    sleep_latency_us: int | None
    rpc_polling_time_us: int | None
    relaxes_to: str | None
    sustain_us: int | None
    summary: str
    provenance: str | None = None
    learnt: Adaptive | None = None


@click.command(name="list", cls=Command, example="htppower list --profiles my-profiles")
@format_option(("text", "json"))
@folders_option("Also list the profiles in this folder; may be repeated.")
@option("--runtimes", is_flag=True, group=WHAT, help="List the real votes of other runtimes instead, by runtime.")
@sdk_option("List the vendor's table of this SDK instead, such as 2.25, as far as it is known.")
def command(form: str, folders: tuple[str, ...], sdk: str | None, *, runtimes: bool) -> None:
    """List the profiles, from highest performance to lowest.

    Faults of files are printed after the list. With --runtimes the list has the records of what ONNX Runtime, the
    vendor's own tools, LiteRT and ExecuTorch vote in each mode. Their names, such as onnxruntime:burst, can be used
    wherever a profile's name can.

    Exit code 0: all can be used; 1: a rule refuses one; 2: one can't be read.
    """
    if runtimes and sdk:
        raise click.UsageError("--runtimes and --sdk name two lists; leave one out")
    records = runtimes or sdk is not None
    profiles, errors = load_records(folders, runtime=sdk or "") if records else load_profiles(folders)
    if records and form == "text":
        _print_groups(profiles)
    else:
        _print([_line(profile) for profile in profiles], form)
    for path in () if records else Folders.of(folders).hidden():
        echo(f"{printable(path)}: not listed: another file of this name hides it", err=True)
    if errors:
        kind = RuleBreach if all(isinstance(error, RuleBreach) for error in errors) else ProfileError
        raise kind(problem for error in errors for problem in error.problems)


def _print_groups(profiles: tuple[Profile, ...]) -> None:
    """Print the records, in a table for each runtime, with the sources of the values instead of the summaries."""
    width = terminal_width()
    groups: dict[str, list[Profile]] = {}
    for profile in profiles:
        groups.setdefault(profile.name.partition(":")[0], []).append(profile)
    tables = []
    for records in groups.values():
        stated = dict.fromkeys(str(record.provenance) for record in records if record.provenance is not None)
        lead = [line for said in stated or ("no provenance is stated",) for line in wrapped(said, width, "  ")]
        head, *rows = table(_HEADINGS[:-1], [_row(_told(record))[:-1] for record in records], width)
        tables.append("\n".join((*lead, styled(head, "bold"), *rows)))
    echo("\n\n".join(tables))


def _told(record: Profile) -> Line:
    """Return a record in one line. Its votes are held if they are never lowered."""
    line = _line(record)
    return attrs.evolve(line, relaxes_to="held") if is_held(record) else line


def _print(lines: list[Line], form: str) -> None:
    if form == "json":
        import json  # noqa: PLC0415 - not needed for text

        document = {"format_version": FORMAT_VERSION, "profiles": [_as_dict(line) for line in lines]}
        echo(json.dumps(document, indent=2))
        return
    head, *rows = table(_HEADINGS, [_row(line) for line in lines], terminal_width())
    echo("\n".join((styled(head, "bold"), *rows)))


def _as_dict(line: Line) -> dict[str, object]:
    """Return a line for JSON. Only a record has a provenance, and only a learnt time has its settings."""
    known = attrs.asdict(line, recurse=False)
    if line.learnt is not None:
        known["learnt"] = {at[-1]: value for at, value in limits((), line.learnt)}
    rare = ("provenance", "learnt")
    return {name: value for name, value in known.items() if value is not None or name not in rare}


def _row(line: Line) -> tuple[str, ...]:
    sustain = line.sustain_us if line.learnt is None else line.learnt
    times = (line.sleep_latency_us, line.rpc_polling_time_us, sustain)
    spelt = (NONE if time is None else sustain_in_short(time) for time in times)
    told = (line.name, line.corner or NONE, *spelt, line.relaxes_to or NONE, line.summary)
    return tuple(map(printable, told))


def _line(profile: Profile) -> Line:
    hvx = profile.votes.hvx
    sustain = None if profile.relax is None else profile.relax.after_inference_us
    core = None if hvx is None else hvx.core
    corner = None
    if core is not None:
        corners = (core.min.name, core.target.name, core.max.name)
        corner = corners[0] if len(set(corners)) == 1 else " / ".join(corners)
    path = file_of(profile)
    return Line(
        profile.name if path is None or profile.provenance else stem_of(path),
        corner,
        None if hvx is None else hvx.sleep_latency_us,
        profile.votes.rpc_polling_time_us,
        None if profile.relax is None else profile.relax.to.name,
        None if sustain is None else first_us(sustain),
        profile.summary,
        None if profile.provenance is None else str(profile.provenance),
        sustain if isinstance(sustain, Adaptive) else None,
    )

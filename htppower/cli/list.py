"""``htppower list``: the profiles, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from htppower.cli.options import folders_option, format_option
from htppower.cli.terminal import cell, console, echo, is_screen
from htppower.errors import ProfileError, RuleBreach, printable
from htppower.profiles.discovery import Folders
from htppower.profiles.loading import load_profiles
from htppower.review.layout import aligned

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

FORMAT_VERSION = 1
# A summary may wrap in the table; nothing else may.
_NARROWEST_SUMMARY = 20
_HEADINGS = ("name", "corner", "sleep us", "polling us", "relaxes to", "sustain us", "summary")


class Line(NamedTuple):
    """A profile in one line; None for what it does not vote on."""

    name: str
    corner: str | None
    sleep_latency_us: int | None
    rpc_polling_time_us: int | None
    relaxes_to: str | None
    sustain_us: int | None
    summary: str


@click.command(name="list")
@format_option(("text", "json"))
@folders_option("List the profiles in here, too.")
def command(form: str, folders: tuple[str, ...]) -> None:
    """List the profiles, from highest performance to lowest; what is wrong with a file comes after."""
    profiles, errors = load_profiles(folders)
    _print([_line(profile) for profile in profiles], form)
    for path in Folders.of(folders).hidden():
        echo(f"{printable(str(path))}: not listed: a file of this name comes before it", err=True)
    if errors:
        kind = RuleBreach if all(isinstance(error, RuleBreach) for error in errors) else ProfileError
        raise kind(problem for error in errors for problem in error.problems)


def _print(lines: list[Line], form: str) -> None:
    if form == "json":
        import json  # noqa: PLC0415 - the text needs none

        document = {"format_version": FORMAT_VERSION, "profiles": [line._asdict() for line in lines]}
        echo(json.dumps(document, indent=2))
        return
    rows = [tuple("-" if value is None else printable(str(value)) for value in line) for line in lines]
    if not is_screen() or not _print_table(rows):
        echo("\n".join(line.rstrip() for line in aligned([_HEADINGS, *rows])))


def _line(profile: Profile) -> Line:
    hvx = profile.votes.hvx
    core = None if hvx is None else hvx.core
    corner = None
    if core is not None:
        corners = (core.min.name, core.target.name, core.max.name)
        corner = corners[0] if len(set(corners)) == 1 else " / ".join(corners)
    return Line(
        profile.name if profile.source is None else profile.source.stem,
        corner,
        None if hvx is None else hvx.sleep_latency_us,
        profile.votes.rpc_polling_time_us,
        None if profile.relax is None else profile.relax.to.name,
        None if profile.relax is None else profile.relax.after_inference_us,
        profile.summary,
    )


def _print_table(rows: list[tuple[str, ...]]) -> bool:
    """Print a table where the terminal is wide enough; return whether it is."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - only for a terminal
    from rich.table import Table  # noqa: PLC0415

    terminal = console()
    widths = [max(len(row[column]) for row in (_HEADINGS, *rows)) for column in range(len(_HEADINGS) - 1)]
    if sum(widths) + 2 * len(widths) + _NARROWEST_SUMMARY > terminal.width:
        return False
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right" if heading.endswith(" us") else "left", no_wrap=heading != "summary")
    for row in rows:
        table.add_row(*map(cell, row))
    terminal.print(table)
    return True

"""``htppower export``: a profile as a file for the vendor's tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.errors import Finding, ProfileError, Severity, printable, shortened
from htppower.profiles.loading import load_profile
from htppower.rules.platforms import find_soc
from htppower.tools.cli import completion
from htppower.tools.cli.help import OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import folders_option, force_option, soc_option
from htppower.tools.cli.outputs import File, Sort, write_files
from htppower.tools.cli.parameter_types import WholeNumber
from htppower.tools.cli.terminal import echo
from htppower.tools.extensions.extension_file import read_extension_file
from htppower.tools.extensions.from_profile import from_profile, merged
from htppower.tools.extensions.lost import architecture, harmful_elsewhere
from htppower.tools.report.layout import terminal_width, wrapped
from htppower.tools.runtimes.json_settings import DIALOG, GENAI, POLICY, said_by_json

if TYPE_CHECKING:
    from htppower.profiles.expressed import Lost
    from htppower.tools.extensions.extension_file import ExtensionFile

_MOST_CORES = 2**32 - 1
_FORMATS = ("extensions",)


@click.command(name="export", cls=Command, example="htppower export burst --to extensions --soc SM8750")
@click.argument("profile", metavar="NAME|PATH", shell_complete=completion.profiles)
@option(
    "--to",
    "form",
    type=click.Choice(_FORMATS),
    default=_FORMATS[0],
    group=WHAT,
    help="What to make: a backend extension file.  [default: extensions]",
)
@soc_option("The SoC, by name, part or model number.", WHAT)
@option("--core", type=WholeNumber(0, _MOST_CORES), default=0, group=WHAT, help="The core.  [default: 0]")
@option("--strict", is_flag=True, group=WHAT, help="Refuse a profile that the file can't express in full.")
@option(
    "--notes", is_flag=True, group=WHAT, help="Also report losses without effect; they do not change the exit code."
)
@folders_option("Also look for profiles in this folder; may be repeated.")
@option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), group=OUTPUT, help="Write this file.")
@option(
    "--into",
    type=click.Path(dir_okay=False, path_type=Path),
    group=OUTPUT,
    help="Put the profile into this file, and leave the rest of it as it is; with --output write the result there.",
)
@force_option("With --output: overwrite an existing file that differs.")
def command(
    profile: str,
    form: str,  # noqa: ARG001 - there is only one so far
    soc: str | None,
    core: int,
    strict: bool,
    notes: bool,
    folders: tuple[str, ...],
    output: Path | None,
    into: Path | None,
    *,
    force: bool,
) -> None:
    """Write a profile as a backend extension file for the vendor's tools and Genie.

    The votes are written as a custom profile. Losses are reported on standard error: what the file can't express, and
    votes that are left out because the SoC, from --soc or from the file of --into, lacks them. Without a SoC every vote
    is written, and a vote is reported if other votes are lost with it on a SoC that lacks it.

    Exit code 0: written; 1: with --strict, something would be lost; 2: it failed.
    """
    loaded = load_profile(profile, folders)
    found = None if soc is None else find_soc(soc)
    file = None if into is None else _file(into)
    arch = found.arch if found is not None else None if file is None else architecture(file)
    exported = from_profile(loaded, arch)
    lost = (*exported.lost, *(harmful_elsewhere(loaded) if arch is None else ()))
    _tell(profile, lost, strict=strict, notes=notes)
    if strict and any(each.severity is not Severity.NOTE for each in lost):
        click.get_current_context().exit(REFUSED)
    if into is not None and file is not None:
        content = merged(file, exported, soc=found, core=core).text.encoded()
        # The command has read the file, and keeps the rest of it.
        sort = Sort.KEPT if output is not None and not _is_same(output, into) else Sort.EDITED
        write_files({str(output or into): File(content, sort)}, force=force)
    elif output is not None:
        write_files({str(output): File(exported.text(found, core), Sort.KEPT)}, force=force)
    else:
        echo(exported.text(found, core), nl=False)


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and path.samefile(other)


def _file(path: Path) -> ExtensionFile:
    """Return the file to put a profile into. The settings of a runtime, which name such a file, are refused."""
    file = read_extension_file(path)
    said = said_by_json(file.text)
    if said is not None and said.form in (DIALOG, GENAI, POLICY):
        named = [shortened(str(path.parent / name)) for name, _ in said.extensions]
        if named:
            hint = (
                f"put the profile into the file that it names under extensions: --into {printable(' or '.join(named))}"
            )
        elif said.form == DIALOG:
            hint = "it names no extension file: write one with --output, and name it in engine.backend.extensions"
        else:
            hint = "write the profile's settings with htppower settings"
        raise ProfileError([Finding.of_file(str(path), "TYPE-1", f"{said.form}, not an extension file", hint)])
    return file


def _tell(profile: str, lost: tuple[Lost, ...], *, strict: bool, notes: bool) -> None:
    for each in lost:
        is_note = each.severity is Severity.NOTE
        if is_note and not notes:
            continue
        weighs = "error" if strict and not is_note else each.severity
        for line in wrapped(f"htppower: {profile}: {weighs}: {each}", terminal_width(), "  "):
            echo(line, err=True)

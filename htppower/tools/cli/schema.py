"""``htppower schema``: JSON Schemas, which an editor uses to complete and check the files that people write."""

from __future__ import annotations

import json
from pathlib import Path

import click

from htppower.errors import printable
from htppower.profiles.regular_file import read_regular_file
from htppower.tools.cli.help import REFUSED, WHAT, Command, option
from htppower.tools.cli.outputs import File, write_files
from htppower.tools.cli.terminal import echo
from htppower.tools.review.json_schema import FILES, json_schema


@click.command(name="schema", cls=Command, example="htppower schema my-profiles")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@option(
    "--check", is_flag=True, group=WHAT, help="Write nothing, and exit with 1 if a file in DIR differs or is missing."
)
def command(folder: str, check: bool) -> None:
    """Write the JSON Schemas of profiles and all other files that people write into DIR.

    The first line of a file names its schema for an editor: # yaml-language-server: $schema=DIR/profile.json
    """
    made = {Path(folder) / f"{name}.json": json.dumps(json_schema(name), indent=2) + "\n" for name in FILES}
    stale = {path: text for path, text in made.items() if not _is_in(path, text)}
    if stale and not check:
        write_files({str(path): File(text, form="schema", folder=folder) for path, text in stale.items()})
        for path in stale:
            echo(f"{printable(str(path))}: written")
    if stale and check:
        names = ", ".join(printable(str(path)) for path in stale)
        echo(f"{names}: out of date; run htppower schema {printable(folder)}", err=True)
        click.get_current_context().exit(REFUSED)


def _is_in(path: Path, text: str) -> bool:
    try:
        return read_regular_file(path, noted=False) == text.encode()
    except (OSError, ValueError):
        return False

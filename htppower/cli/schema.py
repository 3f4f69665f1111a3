"""``htppower schema``: the JSON Schemas by which an editor completes and checks profiles, power states and tests."""

from __future__ import annotations

import json
from pathlib import Path

import click

from htppower.cli import REFUSED


@click.command(name="schema")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where a file in DIR is another, or missing.")
def command(folder: str, check: bool) -> None:
    """Write the JSON Schemas of profiles, power states and tests into DIR.

    The first line of a file tells an editor which is its schema: # yaml-language-server: $schema=DIR/profile.json
    """
    from htppower.json_schema import FILES, json_schema  # noqa: PLC0415 - a usage error need not wait for it

    stale = []
    for name in FILES:
        path = Path(folder) / f"{name}.json"
        text = json.dumps(json_schema(name), indent=2) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
            continue
        stale.append(path)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, text)
            click.echo(f"{path}: written")
    if check and stale:
        names = ", ".join(map(str, stale))
        click.echo(f"{names}: not what the code says; run htppower schema {folder}", err=True)
        click.get_current_context().exit(REFUSED)


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text, encoding="utf-8", newline="\n")
    beside.replace(path)

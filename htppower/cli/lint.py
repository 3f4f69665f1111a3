"""``htppower lint``: every finding in profile files."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING

import click

from htppower.cli.exit_codes import REFUSED
from htppower.cli.options import SYSTEMS, folders_option, output_options, refuse_soc_with_arch
from htppower.cli.outputs import print_document, write_outputs
from htppower.review.lint.formats import NAMES, render
from htppower.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.rules.platforms import Platform


@click.command(name="lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@output_options(NAMES)
@click.option("--strict", is_flag=True, help="Let warnings count.")
@click.option("--notes", is_flag=True, help="Tell of notes, too; they never count.")
@folders_option("Look for names here, too.")
@click.option("--soc", metavar="NAME", help="Check what this SoC does not have, too.")
@click.option("--arch", metavar="ARCH", help="The same for a Hexagon architecture, such as V75.")
@click.option("--platform", "system", type=click.Choice(SYSTEMS), help="The same for an operating system.")
def command(
    paths: tuple[str, ...],
    form: str,
    outputs: tuple[tuple[str, Path], ...],
    folders: tuple[str, ...],
    soc: str | None,
    arch: str | None,
    system: str | None,
    *,
    strict: bool,
    notes: bool,
) -> None:
    """Find what is wrong in profiles and power states, and in folders of them.

    Exit code 0: no findings that count; 1: findings; 2: it could not be run.
    """
    today = datetime.datetime.now(datetime.timezone.utc).date()
    platform = _platform(soc, arch, system)
    terminal = sys.stdout is not None and sys.stdout.isatty()
    report = lint(paths, today, profiles=folders, platform=platform, notes=notes)._replace(strict=strict)
    text = write_outputs(outputs, form, lambda name, width: render(report, name, width if terminal else None))
    if text:
        print_document(text, form)
    if any(map(report.counts, report.findings)):
        click.get_current_context().exit(REFUSED)


def _platform(soc: str | None, arch: str | None, system: str | None) -> Platform | None:
    if soc is None and arch is None and system is None:
        return None
    refuse_soc_with_arch({"soc": soc, "arch": arch})
    from htppower.rules.platforms import platform_of  # noqa: PLC0415 - only where one is named

    return platform_of(soc, arch, system or "linux")

"""``htppower lint``: every finding in profile files."""

from __future__ import annotations

import datetime
import os
import re
from typing import TYPE_CHECKING

import click

from htppower.errors import printable
from htppower.profiles.discovery import Folders, is_record
from htppower.tools.cli.globbing import expanded
from htppower.tools.cli.help import DEVICE, OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import (
    SYSTEMS,
    arch_option,
    folders_option,
    output_options,
    refuse_soc_with_arch,
    soc_option,
)
from htppower.tools.cli.outputs import File, Sort, print_document, write_files, write_outputs
from htppower.tools.cli.progress import shown_progress
from htppower.tools.cli.terminal import echo
from htppower.tools.report.layout import terminal_width
from htppower.tools.review.lint.forms import FORMS, render
from htppower.tools.review.lint.profile_findings import STDIN
from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from htppower.rules.platforms import Platform
    from htppower.tools.review.lint.run import LintReport


# A scheme, and the characters of RFC 3986.
_URI = r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+"


@click.command(name="lint", cls=Command, example="htppower lint my-profiles --strict --soc SM8750")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...", callback=expanded)
@output_options(FORMS)
@option("--strict/--no-strict", default=False, group=WHAT, help="Exit with 1 for warnings, too.")
@option("--fix", is_flag=True, group=WHAT, help="Before linting, fix the faults that have only one right fix.")
@option(
    "--diff",
    "shows",
    is_flag=True,
    group=WHAT,
    help="Show what --fix would change, and write nothing. Exit code 1: it would change something.",
)
@option(
    "--statistics", is_flag=True, group=OUTPUT, help="Print the count of findings of each rule instead of the findings."
)
@option("--notes", is_flag=True, group=WHAT, help="Also report notes; they do not change the exit code.")
@option(
    "--exclude",
    metavar="PATTERN",
    multiple=True,
    group=WHAT,
    help="Leave out files and folders that match this, such as drafts or old_*.yaml; may be repeated.",
)
@folders_option("Also look for names in this folder; may be repeated.")
@soc_option("Also report votes that this SoC lacks; by name, part or model number.")
@arch_option("Also report votes that a Hexagon architecture such as V75 lacks.")
@option(
    "--platform",
    "system",
    type=click.Choice(SYSTEMS),
    group=DEVICE,
    help="Also report votes that this operating system lacks.",
)
@option(
    "--prepared",
    metavar="FILE",
    group=DEVICE,
    help="Check extension files against how their context was prepared: raw, memhandle, or its JSON.",
)
@option(
    "--help-uri",
    metavar="URI",
    envvar="HTPPOWER_HELP_URI",
    show_envvar=True,
    group=OUTPUT,
    help="Name this page of your documentation in SARIF for each rule; {rule} in it is replaced by the rule's id.",
)
def command(
    paths: tuple[str, ...],
    form: str,
    outputs: tuple[tuple[str, str], ...],
    folders: tuple[str, ...],
    soc: str | None,
    arch: str | None,
    system: str | None,
    prepared: str | None,
    help_uri: str | None,
    exclude: tuple[str, ...],
    *,
    fix: bool,
    shows: bool,
    statistics: bool,
    strict: bool,
    notes: bool,
) -> None:
    """Find faults in profiles, power states, device models and the vendor's extension files, and in folders.

    The path - is the standard input, as a file in the current folder. The name of a record, such as onnxruntime:burst,
    stands for its file.

    Each finding names its rule, which htppower explain RULE describes.

    Exit code 0: no findings that count; 1: findings; 2: it failed.
    """
    today = datetime.datetime.now(datetime.timezone.utc).date()
    platform = _platform(soc, arch, system)
    _refuse_no_uri(help_uri)
    io_memory = None if prepared is None else _prepared(prepared)
    files = _files((path for path in paths if path != STDIN), folders)
    texts = _standard_input() if STDIN in paths else {}

    def run(instead: Mapping[str, bytes]) -> LintReport:
        with shown_progress() as progress:
            progress.begin("linting", unit="files")
            return lint(
                files,
                today,
                profiles=folders,
                platform=platform,
                notes=notes,
                exclude=exclude,
                texts=instead,
                prepared=io_memory,
                progress=progress.done_of,
            )

    if statistics and form not in ("text", "json"):
        raise click.UsageError(f"--statistics is not in the format {form}; choose text or json")
    if (fix or shows) and texts:
        raise click.UsageError("--fix and --diff change files, and the standard input is not a file")
    if shows:
        _show_mends(run)
        return
    if fix:
        _mend(run)
    report = run(texts)._replace(strict=strict, help_uri=help_uri or "")
    text = write_outputs(outputs, form, lambda name, width: render(report, name, width))
    if statistics:
        text = _statistics(report, form)
    if text:
        print_document(text, form)
    if any(map(report.counts, report.findings)):
        click.get_current_context().exit(REFUSED)


def _standard_input() -> dict[str, bytes]:
    """Return the content of the standard input, as a file in the current folder."""
    from htppower.tools.cli.options import standard_input  # noqa: PLC0415 - only if it is linted

    return {STDIN: standard_input()}


def _files(paths: Iterable[str], folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths; for the name of a record, such as onnxruntime:burst, its file."""
    named = Folders.of(folders)
    return tuple(
        named.find(path, "profile") if is_record(path) and not os.path.lexists(path) else path for path in paths
    )


def _prepared(said: str) -> str:
    """Return how a context was prepared, from a word, or from the JSON of the context or DLC."""
    from htppower.tools.extensions.json_text import read_json  # noqa: PLC0415 - only if it is needed
    from htppower.tools.review.extension_lint.harmful import MEMHANDLE, RAW, prepared_with  # noqa: PLC0415

    if said in (RAW, MEMHANDLE):
        return said
    found = prepared_with(read_json(said).accepted())
    if found is None:
        told = f"{said} does not show how its inputs and outputs were prepared: give raw or memhandle"
        raise click.BadParameter(told, param_hint="'--prepared'")
    return found


def _refuse_no_uri(help_uri: str | None) -> None:
    """Refuse what SARIF does not allow. Otherwise uploading the report would fail later, without the option's name."""
    if help_uri and not re.fullmatch(_URI, help_uri.replace("{rule}", "RULE")):
        said = f"{help_uri!r} is not a URI: name a page such as https://example.com/rules/{{rule}}"
        raise click.BadParameter(said, param_hint="'--help-uri'")


def _mend(run: Callable[[Mapping[str, bytes]], LintReport]) -> None:
    """Write the mended files, and report the mends on standard error."""
    from htppower.tools.review.lint.mends import mend  # noqa: PLC0415 - only for mends

    contents, mends = mend(run)
    # A link that may be mended leads to a file in the folders being used, so that file is written.
    write_files({os.path.realpath(path): File(content, Sort.EDITED) for path, content in contents.items()})
    for each in mends:
        echo(printable(str(each)), err=True)


def _show_mends(run: Callable[[Mapping[str, bytes]], LintReport]) -> None:
    """Print the possible mends as a diff, and end with 1 if there are any."""
    from htppower.tools.review.lint.mends import difference, mend  # noqa: PLC0415 - as above

    contents, _ = mend(run)
    if contents:
        echo("".join(difference(path, content) for path, content in contents.items()), nl=False)
        click.get_current_context().exit(REFUSED)


def _statistics(report: LintReport, form: str) -> str:
    from htppower.tools.review.lint.documents import counts_as_json, counts_as_text  # noqa: PLC0415 - if needed

    return counts_as_json(report) if form == "json" else counts_as_text(report, terminal_width())


def _platform(soc: str | None, arch: str | None, system: str | None) -> Platform | None:
    if soc is None and arch is None and system is None:
        return None
    refuse_soc_with_arch({"soc": soc, "arch": arch})
    from htppower.rules.platforms import platform_of  # noqa: PLC0415 - only if a platform is named

    return platform_of(soc, arch, system or "linux")

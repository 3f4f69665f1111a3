"""``htppower settings``: a profile as settings of an inference runtime."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs
import click

from htppower.errors import printable
from htppower.profiles.loading import load_profile
from htppower.tools.cli import completion
from htppower.tools.cli.forms import FormAndFile, form_of, misfit
from htppower.tools.cli.help import INVALID, OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import folders_option, force_option, format_option, refuse_given
from htppower.tools.cli.outputs import File, Sort, print_document, write_outputs
from htppower.tools.cli.terminal import echo
from htppower.tools.report.layout import labelled, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.runtimes.catalogue import RUNTIMES
from htppower.tools.runtimes.json_settings import EXTENSION_FILE
from htppower.tools.runtimes.settings import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.profiles.profile import Profile
    from htppower.tools.runtimes.settings import Part, Settings

FORMAT_VERSION = 1
_MADE = ("text", "json")
FORMS = (*_MADE, "github", "sarif", "junit")
# The form of a file of ``--output`` that names no form: only the first text to paste.
_PASTE = ""


@click.command(name="settings", cls=Command, example="htppower settings burst --for genai")
@click.argument(
    "names", nargs=-1, required=True, metavar="NAME|PATH | --check FILE...", shell_complete=completion.profiles
)
@option(
    "--for",
    "chosen",
    type=click.Choice(tuple(RUNTIMES)),
    metavar="RUNTIME",
    group=WHAT,
    help=f"Make settings of this runtime: {', '.join(RUNTIMES)}.",
)
@option(
    "--language",
    type=click.Choice(LANGUAGES),
    metavar="LANGUAGE",
    group=WHAT,
    help=f"Make only texts in this language: {', '.join(LANGUAGES)}.",
)
@option("--check", is_flag=True, group=WHAT, help="Check settings in files instead of making some.")
@option("--strict", is_flag=True, group=WHAT, help="With --check: exit with 1 for warnings, too.")
@format_option(FORMS)
@option(
    "-o",
    "--output",
    "outputs",
    type=FormAndFile(FORMS, any_suffix=True),
    multiple=True,
    group=OUTPUT,
    help="Also write a file, whole or not at all: the first text to paste, or with FORM all of it; may be repeated. "
    "With --check the suffix decides the form.",
)
@force_option("Overwrite an existing file of settings that differs.")
@folders_option("Also look for profiles in this folder; may be repeated.")
def command(
    names: tuple[str, ...],
    chosen: str | None,
    language: str | None,
    form: str,
    outputs: tuple[tuple[str, str], ...],
    folders: tuple[str, ...],
    *,
    check: bool,
    strict: bool,
    force: bool,
) -> None:
    """Print the settings of an inference runtime for a profile, ready to paste.

    They are the nearest that the runtime has. After them, it lists what the runtime can't express: the value in the
    profile, and what the runtime does instead.

    With --check it reads FILEs of settings, such as genai_config.json, Genie's dialogs, options in JSON, TOML, scripts
    and code, and finds settings that their runtime ignores, refuses or misreads. The forms github, sarif and junit are
    for that.

    Exit code 0: made, or no findings that count; 1: findings; 2: it failed, or a file can't be read.
    """
    if check:
        refuse_given(click.get_current_context(), ("chosen", "language", "folders"), "settings of a profile")
        _check(names, form, outputs, strict=strict)
        return
    if len(names) != 1 or chosen is None:
        raise click.UsageError(
            "name one profile and a runtime: htppower settings burst --for genai; or --check FILE..."
        )
    if strict or {form, *(each for each, _ in outputs)} - {*_MADE, _PASTE}:
        raise click.UsageError(f"--strict and forms other than {', '.join(_MADE)} are for --check; leave them out")
    profile = load_profile(names[0], folders)
    made = RUNTIMES[chosen].write(profile)
    if language is not None:
        made = _only(made, chosen, language)

    def render(form: str, width: int) -> str:
        return _as_json(profile, chosen, made) if form == "json" else "\n".join(_as_text(profile, chosen, made, width))

    pasted = {path: File(made.parts[0].text, Sort.KEPT) for own, path in outputs if own == _PASTE}
    reports = [(own, path) for own, path in outputs if own != _PASTE]
    if len(pasted) + len(reports) < len(outputs):
        raise click.UsageError("--output names a file twice")
    print_document(write_outputs(reports, form, render, pasted, force=force), form)


def _only(made: Settings, chosen: str, language: str) -> Settings:
    parts = made.only(language)
    if not parts:
        there = ", ".join(made.languages)
        raise click.UsageError(f"no settings of {chosen} are made in {language}; name one of its languages: {there}")
    lost = made.lost if parts[0].lost is None else parts[0].lost
    return attrs.evolve(made, parts=parts, lost=lost, in_code=())


def _check(paths: tuple[str, ...], form: str, outputs: tuple[tuple[str, str], ...], *, strict: bool) -> None:
    # The checks would double the start of a command that only makes settings.
    from htppower.tools.review.lint.forms import render  # noqa: PLC0415
    from htppower.tools.review.settings_check import check  # noqa: PLC0415

    for own, path in outputs:
        wrong = "" if own else misfit(path, FORMS)
        if wrong:
            raise click.BadParameter(wrong, param_hint="'--output'")
    outputs = tuple((own or form_of(path, FORMS) or "text", path) for own, path in outputs)
    checked = check(paths)
    report = checked.report._replace(strict=strict)
    text = write_outputs(outputs, form, lambda name, width: render(report, name, width))
    if text:
        print_document(text, form)
    for path, known in checked.forms.items():
        if known == EXTENSION_FILE:
            echo(f"{printable(path)}: {known}: htppower lint checks it", err=True)
    for note in checked.notes:
        echo(printable(note), err=True)
    if any(each.rule == "FILE-1" for each in report.findings):
        click.get_current_context().exit(INVALID)
    if any(map(report.counts, report.findings)):
        click.get_current_context().exit(REFUSED)


def _as_text(profile: Profile, chosen: str, made: Settings, width: int) -> Iterator[str]:
    yield from wrapped(f"{profile.name} for {RUNTIMES[chosen].title}", width)
    for part in made.parts:
        yield ""
        yield styled(_head(part), "bold")
        yield part.text
        yield from wrapped(part.note, width) if part.note else ()
    yield ""
    if made.in_code:
        others = ", ".join(dict.fromkeys(part.language for part in made.in_code))
        yield from labelled("also in", f"{others}: see --language", width)
        yield ""
    if not made.lost:
        which = f"The first text ({made.parts[0].where})" if len(made.parts) > 1 else "It"
        yield from wrapped(f"{which} expresses all of the profile.", width)
    else:
        yield styled("what it can't express", "bold")
    for each in made.lost:
        said = f"{'.'.join(each.field)}: {each.says}; the runtime does: {each.instead}"
        yield from wrapped(f"  {said}", width, "    ")
    yield ""
    yield from labelled("known", made.known, width)


def _head(part: Part) -> str:
    return f"{part.where} ({part.file})" if part.file and part.file != part.where else part.where


def _as_json(profile: Profile, chosen: str, made: Settings) -> str:
    document = {
        "format_version": FORMAT_VERSION,
        "profile": profile.name,
        "runtime": chosen,
        "settings": [
            {
                "where": part.where,
                "text": part.text,
                "language": part.language,
                "file": part.file or None,
                "note": part.note,
            }
            for part in made.parts
        ],
        "lost": [{"field": ".".join(each.field), "says": each.says, "instead": each.instead} for each in made.lost],
        "known": made.known,
    }
    return json.dumps(document, indent=2)

"""``htppower test``: whether profiles send the votes that their tests expect."""

from __future__ import annotations

import os

import click

from htppower.profiles.discovery import yaml_files
from htppower.profiles.loading import load_profile
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.profile import file_of
from htppower.rules.platforms import platform_of
from htppower.tools.cli.globbing import expanded
from htppower.tools.cli.help import OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import folders_option, format_option, refuse_given, soc_option
from htppower.tools.cli.outputs import File, print_document, write_files
from htppower.tools.cli.terminal import echo, fitted
from htppower.tools.review.file_kinds import Kind, kind_of

# This SoC has every vote option.
_SOC = "SM8850"
_OF_A_RUN = ("pattern", "verbose", "covers", "fail_uncovered", "form")


@click.command(name="test", cls=Command, example="htppower test my-profiles --coverage")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(), callback=expanded)
@option(
    "-k",
    "pattern",
    metavar="TEXT",
    group=WHAT,
    help="Run only the cases whose name, or whose test's name, contains this.",
)
@option("-v", "--verbose", is_flag=True, group=OUTPUT, help="Show every case that ran, in text.")
@option("--coverage", "covers", is_flag=True, group=WHAT, help="List the fields of profiles that no test checks.")
@option("--fail-uncovered", is_flag=True, group=WHAT, help="Like --coverage, but exit with 1 if there is such a field.")
@option(
    "--write",
    "writes",
    is_flag=True,
    group=WHAT,
    help="Write a test of each profile as it is now, into the folder tests next to it; in a folder, of each profile "
    "without one.",
)
@soc_option(f"With --write: test on this SoC.  [default: {_SOC}]", WHAT)
@option("--force", is_flag=True, group=WHAT, help="With --write: replace an existing test.")
@format_option(("text", "json", "junit"))
@folders_option("Also look for profiles in this folder; may be repeated.")
def command(
    paths: tuple[str, ...],
    pattern: str | None,
    covers: bool,
    fail_uncovered: bool,
    form: str,
    folders: tuple[str, ...],
    soc: str | None,
    *,
    writes: bool,
    force: bool,
    verbose: bool,
) -> None:
    """Run tests of profiles: expected states and votes, through the real controller in virtual time.

    PATH is a test file, or a folder: of profiles with a subfolder tests, or of test files. With --write it is a
    profile, or a folder of profiles.

    Exit code 0: every case passed; 1: an expectation failed, or with --fail-uncovered no test checks some field; 2: a
    test can't be run.
    """
    if form == "junit" and (covers or fail_uncovered):
        raise click.UsageError("--coverage is not in the format junit; choose text or json")
    if pattern is not None and (covers or fail_uncovered):
        raise click.UsageError("--coverage needs every case, but -k leaves some out")
    if writes:
        refuse_given(click.get_current_context(), _OF_A_RUN, "running tests")
        _write(paths, folders, soc or _SOC, force=force)
        return
    refuse_given(click.get_current_context(), ("soc", "force"), "--write")
    from htppower.tools.review.vote_tests import forms  # noqa: PLC0415 - help needs no controller
    from htppower.tools.review.vote_tests.compare import chosen, run_tests  # noqa: PLC0415
    from htppower.tools.review.vote_tests.coverage import Look, coverage  # noqa: PLC0415
    from htppower.tools.review.vote_tests.files import load_beside, load_tests  # noqa: PLC0415

    tests = load_tests(paths, folders)
    if pattern is not None:
        tests = chosen(tests, pattern)
        if not tests:
            raise click.UsageError(f"no case has {pattern!r} in its name")
    beside = load_beside(paths, folders) if covers or fail_uncovered else None
    results = run_tests(tests, folders)
    failed = any(result.failures for result in results)
    covered = None
    if beside is not None and not failed:
        covered = coverage([result.case for result in results], *beside, folders)
    if form == "text":
        text = fitted(forms.as_text(results, covered, verbose=verbose), "    ")
    else:
        text = forms.as_junit(results) if form == "junit" else forms.as_json(results, covered)
    print_document(text, form)
    if beside is not None and failed:
        echo("no coverage: it is computed once every case passes", err=True)
    if failed or (fail_uncovered and any(file.those(Look.UNSEEN) for file in covered or ())):
        click.get_current_context().exit(REFUSED)


def _write(paths: tuple[str, ...], folders: tuple[str, ...], soc: str, *, force: bool) -> None:
    """Write a test of each profile, and print the path.

    Raises:
        click.UsageError: a named profile has a test already.
    """
    from htppower.tools.review.vote_tests.runner import snapshot_path, snapshot_text  # noqa: PLC0415 - as above

    texts: dict[str, str | bytes | File] = {}
    for path in paths:
        files = _untested(path, folders, force=force) if os.path.isdir(path) else (path,)
        for file in files:
            target = snapshot_path(file)
            if os.path.lexists(target) and not force:
                raise click.UsageError(f"{target} exists; --force replaces it")
            text = snapshot_text(load_profile(joined(file), folders), platform_of(soc))
            texts[target] = File(text, folder=folder_of(file))
    write_files(texts)
    for target in texts:
        echo(f"wrote {target}")
    if not texts:
        echo(f"wrote nothing: no profile without a test directly in {', '.join(paths)}", err=True)


def _untested(folder: str, folders: tuple[str, ...], *, force: bool) -> tuple[str, ...]:
    """Return the files of a folder's profiles, without the profiles that a test there uses."""
    from htppower.tools.review.vote_tests.files import FOLDER, load_tests  # noqa: PLC0415 - as above

    inner = joined(folder, FOLDER)
    tests = load_tests([inner], folders) if not force and os.path.isdir(inner) and yaml_files(inner) else ()
    used = {
        os.path.realpath(file)
        for test in tests
        for case in test.cases
        for file in filter(None, map(file_of, case.profiles))
    }
    return tuple(
        file for file in yaml_files(folder) if kind_of(file) is Kind.PROFILE and os.path.realpath(file) not in used
    )

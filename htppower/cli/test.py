"""``htppower test``: whether profiles cast the votes that their tests expect."""

from __future__ import annotations

import gc

import click

from htppower.cli.exit_codes import REFUSED
from htppower.cli.help import OUTPUT, WHAT, Command, option
from htppower.cli.options import GivenPath, folders_option, format_option
from htppower.cli.outputs import print_document
from htppower.cli.terminal import echo, fitted


@click.command(name="test", cls=Command, example="htppower test my-profiles --coverage")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=GivenPath())
@option("-k", "pattern", metavar="TEXT", group=WHAT, help="Run only the cases whose name, or their test's, holds this.")
@option("-v", "--verbose", is_flag=True, group=OUTPUT, help="Show every case that ran, in text.")
@option("--coverage", "covers", is_flag=True, group=WHAT, help="Say which fields of which profiles no test looks at.")
@option(
    "--fail-uncovered", is_flag=True, group=WHAT, help="Do as --coverage, and exit with 1 if there is such a field."
)
@format_option(("text", "json", "junit"))
@folders_option("Look for profiles in this folder, too; may be repeated.")
def command(
    paths: tuple[str, ...],
    pattern: str | None,
    covers: bool,
    fail_uncovered: bool,
    form: str,
    folders: tuple[str, ...],
    *,
    verbose: bool,
) -> None:
    """Run tests of profiles: expected states and votes, through the real controller in virtual time.

    PATH is a test file, or a folder: of profiles with a folder tests in it, or of test files.

    Exit code 0: every case passed; 1: an expectation failed, or with --fail-uncovered no test looks at some field; 2: a
    test can't be run.
    """
    if form == "junit" and (covers or fail_uncovered):
        raise click.UsageError("--coverage is not in the format junit; choose text or json")
    if pattern is not None and (covers or fail_uncovered):
        raise click.UsageError("--coverage looks at every case, and -k leaves some out")
    gc.enable()  # start-up has it off; coverage runs thousands of cases
    from htppower.review.vote_tests import formats  # noqa: PLC0415 - a usage error need not wait for it
    from htppower.review.vote_tests.compare import chosen, run_tests  # noqa: PLC0415
    from htppower.review.vote_tests.coverage import Look, coverage  # noqa: PLC0415
    from htppower.review.vote_tests.files import load_beside, load_tests  # noqa: PLC0415

    tests = load_tests(paths, folders)
    if pattern is not None:
        tests = chosen(tests, pattern)
        if not tests:
            raise click.UsageError(f"no case holds {pattern!r} in its name")
    beside = load_beside(paths, folders) if covers or fail_uncovered else None
    results = run_tests(tests, folders)
    failed = any(result.failures for result in results)
    covered = None
    if beside is not None and not failed:
        covered = coverage([result.case for result in results], *beside, folders)
    if form == "text":
        text = fitted(formats.as_text(results, covered, verbose=verbose), "    ")
    else:
        text = formats.as_junit(results) if form == "junit" else formats.as_json(results, covered)
    print_document(text, form)
    if beside is not None and failed:
        echo("no coverage: it is looked at once every case passes", err=True)
    if failed or (fail_uncovered and any(file.those(Look.UNSEEN) for file in covered or ())):
        click.get_current_context().exit(REFUSED)

"""``htppower diff``: the changes between two profiles, extension files, folders, or a git revision and now."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import is_record
from htppower.profiles.paths import joined
from htppower.tools.cli import completion
from htppower.tools.cli.globbing import expanded
from htppower.tools.cli.help import REFUSED, WHAT, Command, option
from htppower.tools.cli.options import folders_option, output_options, refuse_given, refuse_soc_with_arch
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.progress import shown_progress
from htppower.tools.cli.workload import OF_A_WORKLOAD, simulated_htp, workload, workload_options
from htppower.tools.review.diff.compare import Comparison, compare
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.forms import FORMS, render
from htppower.tools.review.diff.sides import Side, Tree, here, read_side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.diff.compare import RunPair
    from htppower.tools.review.diff.revision import Revision

_EFFECTS = {effect.value.replace(" ", "-"): effect for effect in Effect}
_ADDED, _REMOVED, _RENAMED = "added", "removed", "renamed"
_PAIR = 2


@click.command(name="diff", cls=Command, example="htppower diff --against main --timeline")
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(),
    metavar="OLD NEW | --against REF [PATH...]",
    callback=expanded,
    shell_complete=completion.profiles,
)
@option("--against", "revision", metavar="REF", group=WHAT, help="Compare with this git revision instead of OLD.")
@option("--timeline", is_flag=True, group=WHAT, help="Dry-run each profile that changed on both sides, side by side.")
@output_options(FORMS)
@option(
    "--fail-on",
    "effects",
    type=click.Choice([*_EFFECTS, _ADDED, _REMOVED, _RENAMED]),
    metavar="EFFECT",
    multiple=True,
    group=WHAT,
    help="Exit with 1 only if a change has this effect; may be repeated. A new profile that votes raises power. "
    f"EFFECT is {', '.join(_EFFECTS)}, {_ADDED}, {_REMOVED} or {_RENAMED}.",
)
@folders_option("Also look for names in this folder; may be repeated.")
@workload_options
def command(**options: Any) -> None:
    """Compare resolved profiles, and show the effect of each change.

    A change in a file shows in every profile that it reaches. A new profile is compared with the profile that it
    extends. OLD and NEW are profiles or folders, or the vendor's backend extension files (JSON). Each core and graph of
    an extension file is compared as the profile that it votes. REV:PATH is a path in a git revision. With --against,
    each PATH is compared with itself in the revision; by default this is the folder profiles, or else the current
    folder. The options of platform and workload are for the dry runs of --timeline, and for the pictures of --format
    html.

    Exit code 0: nothing differs; 1: something does; 2: the comparison failed.
    """
    ctx = click.get_current_context()
    draws = options["timeline"] or "html" in (options["form"], *(form for form, _ in options["outputs"]))
    refuse_soc_with_arch(options)
    if not draws:
        refuse_given(ctx, (*OF_A_WORKLOAD, "soc"), "--timeline and --format html")
    with _comparison(options["paths"], options["revision"], options["folders"]) as comparison:
        runs: tuple[RunPair, ...] | None = None
        if draws:
            from htppower.tools.review.diff.runs import run_both  # noqa: PLC0415 - only for dry runs

            runs = run_both(comparison, lambda: simulated_htp(options), workload(options))

        def make(form: str, width: int) -> str:
            return render(comparison, form, runs if options["timeline"] or form == "html" else None, width)

        document = write_outputs(options["outputs"], options["form"], make)
        print_document(document, options["form"])
    if _fails(comparison, options["effects"]):
        ctx.exit(REFUSED)


def _fails(comparison: Comparison, effects: tuple[str, ...]) -> bool:
    """Return whether anything differs; if effects are named, whether a change has one of them."""
    if not effects:
        return not comparison.same
    wanted = {_EFFECTS[name] for name in effects if name in _EFFECTS}
    # A renamed profile counts as removed under its old name, and as new under its new name.
    return (
        any(change.effect in wanted for change in comparison.changes)
        or (_ADDED in effects and bool(comparison.added or comparison.renamed))
        or (_REMOVED in effects and bool(comparison.removed or comparison.renamed))
        or (_RENAMED in effects and bool(comparison.renamed))
        or (Effect.RAISES_POWER in wanted and comparison.adds_votes)
    )


@contextlib.contextmanager
def _comparison(paths: tuple[str, ...], revision: str | None, folders: tuple[str, ...]) -> Iterator[Comparison]:
    """Yield the comparison. The files that it was read from exist until the end of the block."""
    if revision is not None:
        with _comparison_with_revision(paths, revision, folders) as comparison:
            yield comparison
        return
    if len(paths) != _PAIR:
        raise click.UsageError("name OLD and NEW, or --against REF and the paths to compare with it")
    with _side(paths[0], folders) as (old, old_tree), _side(paths[1], folders) as (new, new_tree):
        if Path(old).is_dir() is not Path(new).is_dir():
            raise click.UsageError("OLD and NEW are two profiles or two folders, not one of each")
        with shown_progress() as progress:
            one, other = read_side([old], old_tree, progress.begin), read_side([new], new_tree, progress.begin)
            _refuse_empty(paths, one, other)
            progress.begin("comparing", unit="profiles")
            comparison = compare(
                (paths[0], paths[1]),
                (one, old_tree),
                (other, new_tree),
                files=not Path(old).is_dir(),
                progress=progress.done_of,
            )
        yield comparison


@contextlib.contextmanager
def _side(name: str, folders: tuple[str, ...]) -> Iterator[tuple[str, Tree]]:
    """Yield a path or the name of a profile, and its tree; for ``REV:PATH``, the path in the files of that revision."""
    tree = here(folders)
    revision, colon, path = name.partition(":")
    # The name of a record, such as onnxruntime:burst, has the same form.
    is_name = is_record(name) and not Path(path).exists()
    if not (colon and revision and path) or is_name or Path(name).exists() or Path(name).drive:
        yield name, tree
        return
    from htppower.tools.review.diff.revision import checked_out  # noqa: PLC0415 - only if git is needed

    with checked_out(revision, (path, *folders)) as then:
        found = then.path_of(path)
        if found is None or not found.exists():
            hint = f"name a path that {revision} has, from the current folder"
            raise ProfileError([Finding.of_file(path, "FILE-1", f"is not in {revision}", hint)])
        yield str(found), _tree_of(then, revision, folders)


def _tree_of(then: Revision, name: str, folders: tuple[str, ...]) -> Tree:
    named = tuple(joined(then.path_of(folder) or folder) for folder in folders)
    return Tree(then.shipped, named, str(then.root), str(then.top), f"{name}:")


@contextlib.contextmanager
def _comparison_with_revision(paths: tuple[str, ...], revision: str, folders: tuple[str, ...]) -> Iterator[Comparison]:
    from htppower.tools.review.diff.revision import checked_out  # noqa: PLC0415 - only if git is needed

    paths = paths or (("profiles",) if Path("profiles").is_dir() else (".",))
    with checked_out(revision, (*paths, *folders)) as then:
        before, after = [], []
        for path in paths:
            path_then = then.path_of(path)
            if path_then is None:
                problem = Finding.of_file(path, "FILE-1", f"is not in the repository {then.top}", "name a path in it")
                raise ProfileError([problem])
            if not path_then.exists() and not Path(path).exists():
                raise ProfileError(
                    [Finding.of_file(path, "FILE-1", f"is neither in {revision} nor here", "name a path")]
                )
            before += [path_then] if path_then.exists() else []
            after += [Path(path)] if Path(path).exists() else []
        old_tree, new_tree = _tree_of(then, revision, folders), here(folders)
        names = (f"{revision} ({then.commit[:12]})", "now")
        files = len(paths) == 1 and not any(Path(path).is_dir() for path in (*before, *after))
        with shown_progress() as progress:
            old_side = read_side(before, old_tree, progress.begin) if before else Side()
            new_side = read_side(after, new_tree, progress.begin) if after else Side()
            _refuse_empty(paths, old_side, new_side)
            progress.begin("comparing", unit="profiles")
            old, new = (old_side, old_tree), (new_side, new_tree)
            comparison = compare(names, old, new, files=files, progress=progress.done_of)
        yield comparison


def _refuse_empty(paths: tuple[str, ...], *sides: Side) -> None:
    """Refuse a comparison if both sides are empty.

    Raises:
        ProfileError: neither side has any profile or power state.
    """
    if not any(side.profiles or side.states or side.extensions for side in sides):
        hint = "name the folder of the profiles"
        raise ProfileError(Finding.of_file(path, "FILE-1", "no profile on either side", hint) for path in paths)

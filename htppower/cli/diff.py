"""``htppower diff``: what changes between two profiles, two folders, or a git revision and now."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.cli import FOLDER, REFUSED
from htppower.diff.compare import Comparison, compare
from htppower.diff.effects import Effect
from htppower.diff.sides import Side, Tree, here, read_side
from htppower.errors import Problem, ProfileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMS = ("text", "markdown", "json")
_EFFECTS = {effect.value.replace(" ", "-"): effect for effect in Effect}
_PAIR = 2


@click.command(name="diff")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="OLD NEW | --against REF [PATH...]")
@click.option("--against", "revision", metavar="REF", help="Compare with this git revision instead of OLD.")
@click.option("--format", "form", type=click.Choice(_FORMS), default="text", show_default=True, help="Of the output.")
@click.option(
    "--fail-on",
    "effects",
    type=click.Choice([*_EFFECTS]),
    multiple=True,
    help="Exit with 1 only where a change has this effect; may be repeated.",
)
@click.option("--profiles", "folders", multiple=True, type=FOLDER, metavar="DIR", help="Look for names here, too.")
def command(
    paths: tuple[str, ...], revision: str | None, form: str, effects: tuple[str, ...], folders: tuple[str, ...]
) -> None:
    """Compare resolved profiles: a change in a file shows in every profile that it reaches, by its effect.

    OLD and NEW are profiles or folders. With --against, each PATH (by default the folder profiles, or else the folder
    where it is run) is compared with itself in the revision.

    Exit code 0: nothing differs; 1: something does; 2: it could not be compared.
    """
    with _compared(paths, revision, folders) as comparison:
        render = importlib.import_module(f"htppower.diff.formats.as_{form}").render
        click.echo(render(comparison))
    wanted = {_EFFECTS[name] for name in effects}
    differs = any(change.effect in wanted for change in comparison.changes) if wanted else not comparison.same
    if differs:
        click.get_current_context().exit(REFUSED)


@contextlib.contextmanager
def _compared(paths: tuple[str, ...], revision: str | None, folders: tuple[str, ...]) -> Iterator[Comparison]:
    """Yield the comparison; what it was read from stays until it has been told."""
    tree = here(folders)
    if revision is None:
        if len(paths) != _PAIR:
            raise click.UsageError("name OLD and NEW, or --against REF and what to compare with it")
        old, new = paths
        yield compare((old, new), (read_side([old], tree), tree), (read_side([new], tree), tree))
        return
    from htppower.diff.revision import checked_out  # noqa: PLC0415 - only where git is asked

    paths = paths or (("profiles",) if Path("profiles").is_dir() else (".",))
    with checked_out(revision, paths[0]) as then:
        named = tuple(then.path_of(folder) or Path(folder) for folder in folders)
        tree_then = Tree(then.shipped, named, then.root, f"{revision}:")
        before, after = [], []
        for path in paths:
            path_then = then.path_of(path)
            if path_then is None:
                problem = Problem(path, 0, 0, "FILE-1", f"is not in the repository {then.top}", "name a path in it")
                raise ProfileError([problem])
            before += [path_then] if path_then.exists() else []
            after += [Path(path)] if Path(path).exists() or not path_then.exists() else []
        old_side = read_side(before, tree_then) if before else Side()
        new_side = read_side(after, tree) if after else Side()
        yield compare((revision, "now"), (old_side, tree_then), (new_side, tree))

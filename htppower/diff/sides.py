"""The two sides of a diff: the profiles and power states of a file, a folder or a name, as they stand in a tree."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Problem, ProfileError
from htppower.files import Folders, shipped_folder
from htppower.lint.sources import Kind, Source, find_sources, folders_of
from htppower.profiles import Examined, PowerState, Profile, examine_power_state, examine_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@attrs.frozen(repr=False, eq=False)
class Tree:
    """Where the files of a side stand.

    Attributes:
        shipped: the folder of shipped profiles.
        named: folders in which names are looked up, too.
        root: a folder that stands for another in messages; None where files are what they seem.
        shown_as: what stands for the root.
    """

    shipped: FilePath
    named: tuple[FilePath, ...] = ()
    root: FilePath | None = None
    shown_as: str = ""

    def shown(self, path: str) -> str:
        """Return a path as messages have it."""
        if self.root is None:
            return path
        relative = os.path.relpath(path, self.root)
        return path if relative.startswith("..") else f"{self.shown_as}{relative}"


def here(named: Iterable[str | os.PathLike[str]] = ()) -> Tree:
    """Return the tree of the files as they are."""
    return Tree(shipped_folder(), tuple(map(FilePath, named)))


@attrs.frozen(repr=False, eq=False)
class Side:
    """What is compared, by name: ``camera``, or ``phone/camera`` for a profile in a folder of the folder.

    Attributes:
        profiles: the profiles.
        states: the power states to which none of the profiles relaxes.
    """

    profiles: dict[str, Examined[Profile]] = attrs.field(factory=dict)
    states: dict[str, Examined[PowerState]] = attrs.field(factory=dict)


def read_side(names: Iterable[str | os.PathLike[str]], tree: Tree) -> Side:
    """Return the profiles of files, folders and names, and the power states in the folders.

    Raises:
        ProfileError: one can't be found, can't be read, or breaks a rule; with every problem.
    """
    side = Side()
    problems: dict[Problem, None] = {}
    known: dict[FilePath, dict[FilePath, Examined[PowerState]]] = {}
    for name in names:
        try:
            for key, source in _sources(name, tree):
                problems |= dict.fromkeys(_read(key, source, tree, side, known.setdefault(source.home, {})))
        except ProfileError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise ProfileError(attrs.evolve(problem, path=tree.shown(problem.path)) for problem in problems)
    used = {os.path.realpath(each.state.file.path) for each in side.profiles.values() if each.state is not None}
    for key in [key for key, each in side.states.items() if os.path.realpath(each.file.path) in used]:
        del side.states[key]
    return side


def _read(
    key: str, source: Source, tree: Tree, side: Side, states: dict[FilePath, Examined[PowerState]]
) -> tuple[Problem, ...]:
    """Read a file into a side; return what is wrong with it."""
    folders = folders_of(source.home, tree.named, tree.shipped)
    if source.kind is Kind.STATE:
        state = examine_power_state(source.path, folders)
        side.states[f"{key}{state.value.name}"] = state
        return state.problems
    profile = examine_profile(source.path, folders, states)
    side.profiles[f"{key}{profile.value.name}"] = profile
    return (*profile.problems, *(() if profile.state is None else profile.state.problems))


def _sources(name: str | os.PathLike[str], tree: Tree) -> Iterator[tuple[str, Source]]:
    """Yield the files that a name stands for, each with the folder that comes before its name."""
    path = FilePath(name)
    if not path.is_dir():
        for source in find_sources([Folders((tree.shipped, *tree.named)).find(name, "profile")]):
            yield "", source
        return
    for source in find_sources([path]):
        if source.says_its_kind:
            folder = source.home.relative_to(path).as_posix()
            yield "" if folder == "." else f"{folder}/", source

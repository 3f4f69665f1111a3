"""One side of a diff: the profiles and power states of files, folders and names."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import Folders, folder_list, runtime_of, shipped_folder
from htppower.profiles.loading import Examined, Known, examine_power_state, examine_profile
from htppower.review.file_selection import Kind, Source, find_either, find_sources, folders_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.profiles.profile import PowerState, Profile


@attrs.frozen(repr=False, eq=False)
class Tree:
    """The folders of a side.

    Attributes:
        shipped: the folder of shipped profiles.
        named: more folders in which names are looked up.
        root: the folder of an exported revision; None for files in place.
        top: the top of the repository, whose place ``root`` takes.
        shown_as: the text for ``root`` in messages.
    """

    shipped: FilePath
    named: tuple[FilePath, ...] = ()
    root: FilePath | None = None
    top: FilePath | None = None
    shown_as: str = ""

    def shown(self, path: str) -> str:
        """Return a path as messages show it."""
        if self.root is None:
            return path
        relative = os.path.relpath(path, self.root)
        return path if relative.startswith(os.pardir) else f"{self.shown_as}{relative}"

    @property
    def lookup(self) -> Folders:
        """Where names from the command line are looked up."""
        return Folders((self.shipped, *self.named))

    def folders(self, home: FilePath, within: FilePath) -> Folders:
        """Return where names in the files of a folder are looked up; the folder is in another that is compared."""
        folders = folders_of(home, self.named, self.shipped)._replace(within=(within,))
        if self.root is None or self.top is None:
            return folders
        return folders._replace(moved=(str(self.top), str(self.root)))


def here(named: Iterable[str | os.PathLike[str]] = ()) -> Tree:
    """Return the tree of the files in place."""
    return Tree(shipped_folder(), folder_list(named))


@attrs.frozen(repr=False, eq=False)
class Side:
    """The files of a side by name: ``camera``, or ``phone/camera`` in a folder of the folder.

    Attributes:
        profiles: the profiles.
        states: the power states that none of the profiles uses.
    """

    profiles: dict[str, Examined[Profile]] = attrs.field(factory=dict)
    states: dict[str, Examined[PowerState]] = attrs.field(factory=dict)


def read_side(names: Iterable[str | os.PathLike[str]], tree: Tree) -> Side:
    """Return the profiles of files, folders and names, and the power states in the folders.

    Raises:
        ProfileError: with every problem: a file is missing, can't be read, breaks a rule, or repeats a name.
    """
    side = Side()
    problems: dict[Finding, None] = {}
    known = Known()
    for name in names:
        try:
            for key, source in _sources(name, tree):
                within = FilePath(name) if FilePath(name).is_dir() else source.home
                problems |= dict.fromkeys(_read(key, source, tree.folders(source.home, within), tree, side, known))
        except ProfileError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise ProfileError(_shown(problem, tree) for problem in problems)
    named = (state for each in side.profiles.values() for state in each.states.values())
    used = {os.path.realpath(state.file.path) for state in named}
    for key in [key for key, each in side.states.items() if os.path.realpath(each.file.path) in used]:
        del side.states[key]
    return side


def _read(key: str, source: Source, folders: Folders, tree: Tree, side: Side, known: Known) -> tuple[Finding, ...]:
    """Read a file into a side; return its problems."""
    if source.kind is Kind.STATE:
        state = examine_power_state(source.path, folders, known)
        other = side.states.setdefault(f"{key}{state.value.name}", state)
        return (*state.problems, *_repeated_name(state, other, tree))
    profile = examine_profile(source.path, folders, known)
    of_states = [problem for state in profile.states.values() for problem in state.problems]
    first = side.profiles.setdefault(f"{key}{profile.value.name}", profile)
    return (*profile.problems, *of_states, *_repeated_name(profile, first, tree))


def _repeated_name(
    this: Examined[Profile] | Examined[PowerState], first: Examined[Profile] | Examined[PowerState], tree: Tree
) -> Iterator[Finding]:
    """Yield a problem where two files have the same name, so that only one could be compared."""
    if os.path.realpath(this.file.path) != os.path.realpath(first.file.path):
        key = "profile" if ("profile",) in this.file.places else "state"
        hint = f"the first is {tree.shown(str(first.file.path))}"
        yield this.file.located(Finding("NAME-1", (key,), f"a second {key} named {this.value.name!r}", hint))


def _shown(problem: Finding, tree: Tree) -> Finding:
    """Return a problem with its file as messages have it."""
    place = None if problem.place is None else problem.place._replace(path=tree.shown(problem.place.path))
    return attrs.evolve(problem, place=place)


def _sources(name: str | os.PathLike[str], tree: Tree) -> Iterator[tuple[str, Source]]:
    """Yield the files of a name, each with the folder to put before its own name."""
    path = FilePath(name)
    if not path.is_dir():
        found = (path, kind_of(path)) if path.exists() else find_either(os.fspath(name), tree.lookup)
        yield "", Source(found[0], Kind.STATE if found[1] is Kind.STATE else Kind.PROFILE)
        return
    for source in find_sources([path]).sources:
        folder = os.path.relpath(source.home, path).replace(os.sep, "/")
        # A record has its runtime in its name.
        recorded = source.kind is Kind.PROFILE and runtime_of(source.path)
        yield "" if recorded or folder == os.curdir or folder.startswith(os.pardir) else f"{folder}/", source

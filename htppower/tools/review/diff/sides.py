"""One side of a diff: the profiles and power states of files, folders and names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import Folders, folder_list, shipped_folder
from htppower.profiles.loading import Examined, Known, examine_power_state, examine_profile
from htppower.profiles.names import runtime_of
from htppower.profiles.paths import joined, path_below
from htppower.tools.review.file_kinds import EXTENSION_SUFFIXES, JSON, Kind, named_kind
from htppower.tools.review.file_selection import Source, find_either, find_sources, folders_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.review.diff.extension_parts import Part


@attrs.frozen(repr=False, eq=False)
class Tree:
    """The folders of a side.

    Attributes:
        shipped: the folder of shipped profiles.
        named: more folders in which names are looked up.
        root: the folder of an exported revision; None if the files are read in place.
        top: the top of the repository, which ``root`` replaces.
        shown_as: the text that replaces ``root`` in messages.
    """

    shipped: str
    named: tuple[str, ...] = ()
    root: str | None = None
    top: str | None = None
    shown_as: str = ""

    def shown(self, path: str) -> str:
        """Return a path as messages show it."""
        if self.root is None:
            return path
        relative = path_below(path, self.root)
        return path if relative is None else f"{self.shown_as}{relative}"

    def inner(self, folder: str, named: str) -> str:
        """Return the target of a path that an outer extension file names; in a revision, among its files.

        ``folder`` is the folder of the outer file.
        """
        from htppower.tools.extensions.inner_files import beside_or_here  # noqa: PLC0415 - only if there is such a file

        if self.root is None or self.top is None:
            return beside_or_here(folder, named)
        for path in (joined(folder, named), joined(os.getcwd(), named)):
            for top in (self.root, self.top):
                there = path_below(path, top)
                if there is not None and os.path.exists(inner := joined(self.root, there)):
                    return inner
        return joined(folder, named)

    @property
    def lookup(self) -> Folders:
        """The folders to look up names from the command line."""
        return Folders((self.shipped, *self.named))

    def folders(self, home: str, within: str) -> Folders:
        """Return the folders to look up names in the files of ``home``. ``within`` is the compared folder."""
        moved = None if self.root is None or self.top is None else (self.top, self.root)
        return attrs.evolve(folders_of(home, self.named, self.shipped), within=(within,), moved=moved)


def here(named: Iterable[str | os.PathLike[str]] = ()) -> Tree:
    """Return the tree of the files in place."""
    return Tree(shipped_folder(), folder_list(named))


@attrs.frozen(repr=False, eq=False)
class Side:
    """The files of a side by name: ``camera``, or ``phone/camera`` in a subfolder.

    Attributes:
        profiles: the profiles.
        states: the power states that none of the profiles uses.
        extensions: the extension files.
        parts: their cores and graphs, by file.
    """

    profiles: dict[str, Examined[Profile]] = attrs.field(factory=dict)
    states: dict[str, Examined[PowerState]] = attrs.field(factory=dict)
    extensions: dict[str, ExtensionFile] = attrs.field(factory=dict)
    parts: dict[str, tuple[Part, ...]] = attrs.field(factory=dict)

    @property
    def all_profiles(self) -> dict[str, Examined[Profile]]:
        """The profiles, and the votes of each core and graph of the extension files, as profiles."""
        of_parts = {f"{file} {part.name}": part.profile for file, parts in self.parts.items() for part in parts}
        return {**self.profiles, **of_parts}


def read_side(
    names: Iterable[str | os.PathLike[str]], tree: Tree, progress: Callable[[str], None] = lambda _: None
) -> Side:
    """Return the profiles of files, folders and names, and the power states in the folders.

    ``progress`` is called with the path of each file before the file is read.

    Raises:
        ProfileError: holds every problem: a file is missing, can't be read, breaks a rule, or repeats a name.
    """
    side = Side()
    problems: dict[Finding, None] = {}
    known = Known()
    for name in names:
        try:
            for key, source in _sources(name, tree):
                progress(source.path)
                within = joined(name) if os.path.isdir(name) else source.home
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
    if source.kind is Kind.EXTENSION:
        return tuple(_read_extensions(key, source, tree, side))
    if source.kind is Kind.STATE:
        state = examine_power_state(source.path, folders, known)
        other = side.states.setdefault(f"{key}{state.value.name}", state)
        return (*state.problems, *_repeated_name(state, other, tree))
    profile = examine_profile(source.path, folders, known)
    of_states = [problem for state in profile.states.values() for problem in state.problems]
    first = side.profiles.setdefault(f"{key}{profile.value.name}", profile)
    return (*profile.problems, *of_states, *_repeated_name(profile, first, tree))


def _is_outer(path: str) -> bool:
    """Return whether an extension file only names others; False if it is broken."""
    from htppower.tools.extensions.extension_file import FileKind, read_extension_file  # noqa: PLC0415 - only if there is such a file

    try:
        return read_extension_file(path).kind is FileKind.OUTER
    except ProfileError:
        return False


def _read_extensions(folder: str, source: Source, tree: Tree, side: Side) -> Iterator[Finding]:
    """Read an extension file, or the files that it names, into a side; yield a problem if two have the same name."""
    from htppower.tools.review.diff.extension_parts import parts_of, read_extension_files  # noqa: PLC0415 - only if there is such a file

    for file in read_extension_files(source.path, tree.inner):
        name = f"{folder}{os.path.basename(file.path)}"
        first = side.extensions.setdefault(name, file)
        if first is file:
            side.parts[name] = tuple(parts_of(file))
        elif os.path.realpath(first.path) != os.path.realpath(file.path):
            hint = f"the first is {tree.shown(first.path)}; name the folder that holds both"
            yield Finding.of_file(file.path, "NAME-1", f"a second extension file named {name!r}", hint)


def _repeated_name(
    this: Examined[Profile] | Examined[PowerState], first: Examined[Profile] | Examined[PowerState], tree: Tree
) -> Iterator[Finding]:
    """Yield a problem if two files have the same name, so that only one of them can be compared."""
    if os.path.realpath(this.file.path) != os.path.realpath(first.file.path):
        key = "profile" if ("profile",) in this.file.places else "state"
        hint = f"the first is {tree.shown(first.file.path)}"
        yield this.file.located(Finding("NAME-1", (key,), f"a second {key} named {this.value.name!r}", hint))


def _shown(problem: Finding, tree: Tree) -> Finding:
    """Return a problem with its file as messages show it."""
    place = None if problem.place is None else problem.place._replace(path=tree.shown(problem.place.path))
    return attrs.evolve(problem, place=place)


def _sources(name: str | os.PathLike[str], tree: Tree) -> Iterator[tuple[str, Source]]:
    """Yield the files of a name, each with the folder to put before its own name."""
    path = joined(name)
    if not os.path.isdir(path):
        if not os.path.exists(path):
            if path.endswith(JSON):
                raise ProfileError([Finding.of_file(path, "FILE-1", "no such file", "check the path")])
            yield "", Source(*find_either(os.fspath(name), tree.lookup))
            return
        kind = named_kind(path)
        yield "", Source(path, kind if kind in (Kind.STATE, Kind.EXTENSION) else Kind.PROFILE)
        return
    for source in find_sources([path], extensions=True).sources:
        if source.kind is Kind.EXTENSION and (not source.path.endswith(EXTENSION_SUFFIXES) or _is_outer(source.path)):
            # Files of a revision with other names are not exported. The files that an outer file names are read from
            # the folder themselves, or exist only on the device.
            continue
        folder = (path_below(source.home, path) or os.curdir).replace(os.sep, "/")
        # The name of a record includes its runtime.
        recorded = source.kind is Kind.PROFILE and runtime_of(source.path)
        yield "" if recorded or folder == os.curdir else f"{folder}/", source

"""Where profile files are found, and how a file that extends another becomes one tree."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import attrs

from htppower.documents import Document, Place, locate, read_document
from htppower.errors import Problem, ProfileError
from htppower.mistakes import Mistake, did_you_mean
from htppower.words import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.cases import Path

SUFFIXES = (".yaml", ".yml")
# The fields that name a file; everything else is inherited by a file that extends it.
_OWN = frozenset({"profile", "state", "extends"})
# Deeper than anybody can follow in review.
_DEEPEST_EXTENDS = 20


def shipped_folder() -> FilePath:
    """Return the folder of the shipped profiles: inside an installed package, beside it in a checkout."""
    package = FilePath(__file__).resolve().parent
    installed = package / "shipped_profiles"
    return installed if installed.is_dir() else package.parent / "profiles"


def shown_path(path: str) -> str:
    """Return a path as messages have it: a shipped file by its name, wherever it is installed."""
    shipped = f"{shipped_folder()}{os.sep}"
    return f"shipped {path.removeprefix(shipped)}" if path.startswith(shipped) else path


@attrs.frozen(repr=False, eq=False)
class Folders:
    """The folders in which names are looked up, the shipped one first, so that no file can shadow a shipped name."""

    paths: tuple[FilePath, ...]

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> Folders:
        """Return the shipped folder followed by these.

        Raises:
            ProfileError: FILE-1, a folder can't be read.
            TypeError: one folder is given where a list of them is needed.
        """
        if isinstance(folders, (str, os.PathLike)):
            raise TypeError(f"folders is {folders!r}: a list of folders, not one folder")
        named = tuple(FilePath(folder) for folder in folders)
        for folder in named:
            try:
                os.listdir(folder)  # noqa: PTH208 - the same as a folder is read by later, without its files
            except OSError as error:
                hint = "name a folder that can be read"
                problem = Problem(str(folder), 0, 0, "FILE-1", f"can't be read: {error.strerror}", hint)
                raise ProfileError([problem]) from None
        return cls((shipped_folder(), *named))

    def names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the profiles in the folders, those in ``first`` first and in their order."""
        found = {file.stem for folder in self.paths for file in yaml_files(folder)}
        return (*(name for name in first if name in found), *sorted(found.difference(first)))

    def hidden(self) -> tuple[FilePath, ...]:
        """Return the files that are not found by their name, since another of that name comes first."""
        seen: set[str] = set()
        hidden = []
        for folder in self.paths:
            for file in yaml_files(folder):
                if file.stem in seen:
                    hidden.append(file)
                seen.add(file.stem)
        return tuple(hidden)

    def find(self, name: str | os.PathLike[str], kind: str, near: FilePath | None = None) -> FilePath:
        """Return the file of a profile or state, by name or by path.

        Args:
            name: a name, or a path (with a slash or a YAML suffix), which is taken from beside ``near``.
            kind: ``profile``, or ``state``, which lives in a folder ``states``.
            near: the file in which the name stands.

        Raises:
            ProfileError: FILE-1 for a path, NAME-1 for a name, with the nearest.
        """
        text = os.fspath(name)
        if not isinstance(name, str) or os.sep in text or "/" in text or text.endswith(SUFFIXES):
            return _existing(FilePath(text) if near is None else near.parent / text)
        folders = [folder / "states" if kind == "state" else folder for folder in self.paths]
        if near is not None and kind == "state":
            folders += [near.parent / "states", *([near.parent] if near.parent.name == "states" else [])]
        for folder in folders:
            for suffix in SUFFIXES:
                file = folder / f"{text}{suffix}"
                if text and os.path.lexists(file):
                    return file
        known = [file.stem for folder in folders for file in yaml_files(folder)]
        what = "power state" if kind == "state" else "profile"
        raise ProfileError([Problem(text, 0, 0, "NAME-1", f"no {what} {text!r}", did_you_mean(text, known))])


@attrs.frozen(repr=False, eq=False)
class ResolvedFile:
    """A file with what it extends, as one tree.

    Attributes:
        path: the file.
        tree: the merged tree.
        places, key_places: where each value and key was written, over all files.
        problems: what is wrong with the files as YAML, and with ``extends``.
        lineage: the names, from this file to the last that is extended.
        complete: whether all that it extends could be read; if not, no field is missing for certain.
        documents: the files, from this one to the last that is extended.
    """

    path: FilePath
    tree: Any
    places: dict[Path, Place]
    key_places: dict[Path, Place]
    problems: tuple[Problem, ...]
    lineage: tuple[str, ...]
    complete: bool
    documents: tuple[Document, ...]

    def problem(self, mistake: Mistake) -> Problem:
        """Return a mistake with its place."""
        places = self.key_places if mistake.of_key and mistake.at in self.key_places else self.places
        place = locate(places, mistake.candidates, str(self.path))
        return Problem(place.path, place.line, place.column, mistake.rule, mistake.message, mistake.hint)

    def order(self, problem: Problem) -> tuple[bool, str, int, int]:
        """Return what problems are sorted by: those of this file first, then by file, line and column."""
        return problem.path != str(self.path), problem.path, problem.line, problem.column

    def written_in(self, at: Path) -> FilePath:
        """Return the file in which a value was written."""
        place = self.places.get(at)
        return self.path if place is None else FilePath(place.path)


def resolve_file(path: FilePath, folders: Folders, kind: str, seen: tuple[str, ...] = ()) -> ResolvedFile:
    """Read a file and all that it extends; the nearer file's fields win."""
    document = read_document(path, kind)
    own = document.tree if isinstance(document.tree, dict) else {}
    extends = "extends" in own
    extended = own.pop("extends", None)
    name = own.get(kind)
    alone = ResolvedFile(
        path,
        document.tree,
        document.places,
        document.key_places,
        document.problems,
        lineage=(name if isinstance(name, str) else path.stem,),
        complete=document.tree is not UNREADABLE,
        documents=(document,),
    )
    if not extends:
        return alone
    if extended is UNREADABLE:
        return attrs.evolve(alone, complete=False)
    base = _base(document, extended, path, folders, kind, seen)
    if isinstance(base, Problem):
        return attrs.evolve(alone, problems=(*alone.problems, base), complete=False)
    inherited = base.tree if isinstance(base.tree, dict) else {}
    tree, places, key_places = _merged(
        {key: value for key, value in inherited.items() if key not in _OWN}, base, document, own
    )
    return ResolvedFile(
        path,
        tree,
        places,
        key_places,
        (*document.problems, *base.problems),
        lineage=(*alone.lineage, *base.lineage),
        complete=base.complete,
        documents=(document, *base.documents),
    )


def _base(
    document: Document, extended: Any, path: FilePath, folders: Folders, kind: str, seen: tuple[str, ...]
) -> ResolvedFile | Problem:
    place = document.places[("extends",)]

    def problem(rule: str, message: str, hint: str) -> Problem:
        return Problem(place.path, place.line, place.column, rule, message, hint)

    if not isinstance(extended, str):
        return problem("TYPE-1", "extends names one profile", "extends: burst")
    try:
        found = folders.find(extended, kind, near=path)
    except ProfileError as error:
        return problem("NAME-1", f"{extended!r}, which it extends, does not exist", error.hint)
    # A path and not a resolved Path: that one raises on a symbolic link to itself.
    chain = (*seen, os.path.realpath(path))
    if os.path.realpath(found) in chain:
        names = " -> ".join(FilePath(file).stem for file in (*chain, str(found)))
        hint = "extend a profile that does not extend this one"
        return problem("EXT-1", f"extends goes round in a circle: {names}", hint)
    if len(chain) > _DEEPEST_EXTENDS:
        return problem("EXT-1", f"extends goes deeper than {_DEEPEST_EXTENDS} files", "state the votes themselves")
    return resolve_file(found, folders, kind, chain)


def _merged(
    inherited: dict[str, Any], base: ResolvedFile, document: Document, own: dict[str, Any]
) -> tuple[dict[str, Any], dict[Path, Place], dict[Path, Place]]:
    """Return a file's tree over the one that it extends, with the places of what is left of both."""
    replaced: set[Path] = set()
    tree = _merge(inherited, own, (), replaced)

    def left(places: dict[Path, Place]) -> dict[Path, Place]:
        return {
            at: place
            for at, place in places.items()
            if not any(at[:length] in replaced for length in range(1, len(at)))
        }

    return tree, {**left(base.places), **document.places}, {**left(base.key_places), **document.key_places}


def _merge(base: dict[str, Any], over: dict[str, Any], at: Path, replaced: set[Path]) -> dict[str, Any]:
    """Merge two mappings; what is no mapping in both is replaced, and noted."""
    merged = dict(base)
    for key, value in over.items():
        below = base.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merge(below, value, (*at, key), replaced)
        else:
            merged[key] = value
            replaced.add((*at, key))
    return merged


def _existing(path: FilePath) -> FilePath:
    if _is_file(path):
        return path
    if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112 - as below
        return path  # reading it says what is wrong with it
    message = "is a folder" if os.path.isdir(path) else "no such file"  # noqa: PTH112 - as below
    hint = "check the path" if path.suffix in SUFFIXES else "a profile file ends in .yaml"
    raise ProfileError([Problem(str(path), 0, 0, "FILE-1", message, hint)])


def _is_file(path: FilePath) -> bool:
    """Return whether there is such a file; a name that no file can have is no error."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises on some names


def yaml_files(folder: FilePath) -> list[FilePath]:
    """Return the YAML files directly in a folder, by name, without hidden ones; none where it can't be read."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and not file.name.startswith("."))
    except OSError:
        return []

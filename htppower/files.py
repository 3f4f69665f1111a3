"""Where profile files are found, and how a file that extends another becomes one tree."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import attrs

from htppower.documents import UNREADABLE, Document, Place, read_document
from htppower.errors import Problem, ProfileError
from htppower.schema import Mistake, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.cases import Path

_SUFFIXES = (".yaml", ".yml")
# The fields that name a file; everything else is inherited by a file that extends it.
_OWN = frozenset({"profile", "state", "extends"})


def shipped_folder() -> FilePath:
    """Return the folder of the shipped profiles: inside an installed package, beside it in a checkout."""
    package = FilePath(__file__).resolve().parent
    installed = package / "shipped_profiles"
    return installed if installed.is_dir() else package.parent / "profiles"


@attrs.frozen(repr=False, eq=False)
class Folders:
    """The folders in which names are looked up, the shipped one first, so that no file can shadow a shipped name."""

    paths: tuple[FilePath, ...]

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> Folders:
        """Return the shipped folder followed by these."""
        return cls((shipped_folder(), *(FilePath(folder) for folder in folders)))

    def names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the profiles in the folders, those in ``first`` first and in their order."""
        found = {file.stem for folder in self.paths for file in _yaml_files(folder)}
        return (*(name for name in first if name in found), *sorted(found.difference(first)))

    def find(self, name: str | os.PathLike[str], kind: str, near: FilePath | None = None) -> FilePath:
        """Return the file of a profile or state, by name or by path.

        Args:
            name: a name, or a path (with a slash or a YAML suffix), which is taken from beside ``near``.
            kind: ``profile``, or ``state``, which lives in a folder ``states``.
            near: the file in which the name stands.

        Raises:
            ProfileError: NAME-1, with the nearest name.
        """
        text = os.fspath(name)
        if not isinstance(name, str) or os.sep in text or "/" in text or text.endswith(_SUFFIXES):
            path = FilePath(text) if near is None else near.parent / text
            if path.is_file():
                return path
            hint = "check the path" if text.endswith(_SUFFIXES) else "a profile file ends in .yaml"
            raise ProfileError([Problem(str(path), 0, 0, "FILE-1", "no such file", hint)])
        folders = [folder / "states" if kind == "state" else folder for folder in self.paths]
        if near is not None and kind == "state":
            folders += (
                [near.parent / "states", near.parent] if near.parent.name == "states" else [near.parent / "states"]
            )
        known: list[str] = []
        for folder in folders:
            for file in _yaml_files(folder):
                if file.stem == text:
                    return file
                known.append(file.stem)
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
    """

    path: FilePath
    tree: Any
    places: dict[Path, Place]
    key_places: dict[Path, Place]
    problems: tuple[Problem, ...]
    lineage: tuple[str, ...]

    def problem(self, mistake: Mistake) -> Problem:
        """Return a mistake with its place: the nearest that is written."""
        at = mistake.at
        places = self.key_places if mistake.of_key and at in self.key_places else self.places
        while at and at not in places:
            at = at[:-1]
        place = places.get(at, Place(str(self.path), 1, 1))
        return Problem(place.path, place.line, place.column, mistake.rule, mistake.message, mistake.hint)


def resolve_file(path: FilePath, folders: Folders, kind: str, seen: tuple[FilePath, ...] = ()) -> ResolvedFile:
    """Read a file and all that it extends; the nearer file's fields win."""
    document = read_document(path)
    own = document.tree if isinstance(document.tree, dict) else {}
    extends = "extends" in own
    extended = own.pop("extends", None)
    name = own.get(kind)
    lineage = (name if isinstance(name, str) else path.stem,)
    alone = ResolvedFile(path, document.tree, document.places, document.key_places, document.problems, lineage)
    if not extends or extended is UNREADABLE:
        return alone
    base = _base(document, extended, path, folders, kind, seen)
    if isinstance(base, Problem):
        return attrs.evolve(alone, problems=(*alone.problems, base), tree=UNREADABLE)
    inherited = (
        {key: value for key, value in base.tree.items() if key not in _OWN} if isinstance(base.tree, dict) else {}
    )
    return ResolvedFile(
        path,
        _merge(inherited, own) if base.tree is not UNREADABLE else UNREADABLE,
        {**base.places, **document.places},
        {**base.key_places, **document.key_places},
        (*document.problems, *base.problems),
        (*lineage, *base.lineage),
    )


def _base(
    document: Document, extended: Any, path: FilePath, folders: Folders, kind: str, seen: tuple[FilePath, ...]
) -> ResolvedFile | Problem:
    place = document.places[("extends",)]

    def problem(rule: str, message: str, hint: str = "") -> Problem:
        return Problem(place.path, place.line, place.column, rule, message, hint)

    if not isinstance(extended, str):
        return problem("TYPE-1", "extends names one profile", "extends: burst")
    try:
        found = folders.find(extended, kind, near=path)
    except ProfileError as error:
        return problem("NAME-1", f"{extended!r}, which it extends, does not exist", error.hint)
    chain = (*seen, path.resolve())
    if found.resolve() in chain:
        names = " -> ".join(file.stem for file in (*chain, found))
        return problem(
            "EXT-1",
            f"extends goes round in a circle: {names}",
            "extend a profile that does not extend this one",
        )
    return resolve_file(found, folders, kind, chain)


def _merge(base: Any, over: Any) -> Any:
    """Return the base with the other's fields over it; two mappings are merged, anything else is replaced."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: _merge(base.get(key), value) for key, value in over.items()}}


def _yaml_files(folder: FilePath) -> list[FilePath]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)
    except OSError:
        return []

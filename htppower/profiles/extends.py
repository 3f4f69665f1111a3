"""How a file that extends another becomes one tree, each value with its place."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, ProfileError, shortened
from htppower.profiles.strict_yaml import Document, read_document
from htppower.profiles.yaml_words import UNREADABLE

if TYPE_CHECKING:
    from htppower.errors import Path, Place
    from htppower.profiles.discovery import Folders

# The fields that name a file; everything else is inherited by a file that extends it.
_OWN = frozenset({"profile", "state", "extends"})
# A reviewer can follow no deeper chain.
_DEEPEST_EXTENDS = 20


@attrs.frozen(repr=False, eq=False)
class ResolvedFile(Document):
    """A file with what it extends, as one document: its tree, places and problems are those of all these files.

    Attributes:
        lineage: the names, from this file to the last that is extended.
        complete: whether all that it extends could be read; if not, no field is missing for certain.
        documents: the files, from this one to the last that is extended.
    """

    lineage: tuple[str, ...]
    complete: bool
    documents: tuple[Document, ...]

    def order(self, problem: Finding) -> tuple[bool, str, int, int]:
        """Return what problems are sorted by: those of this file first, then by file, line and column."""
        return problem.path != str(self.path), problem.path, problem.line, problem.column

    def written_in(self, at: Path) -> FilePath:
        """Return the file in which a value was written."""
        place = self.places.get(at)
        return self.path if place is None else FilePath(place.path)


# The files resolved so far, by where names are looked up, path and kind.
KnownFiles = dict[tuple["tuple[FilePath, ...]", str, str], ResolvedFile]


def resolve_file(
    path: FilePath, folders: Folders, kind: str, known: KnownFiles | None = None, seen: tuple[str, ...] = ()
) -> ResolvedFile:
    """Read a file, which ``seen`` extend, and all that it extends; the nearer file's fields win.

    What it extends is taken from ``known``, and added there.
    """
    document = read_document(path, kind)
    own = document.tree if isinstance(document.tree, dict) else {}
    extends = "extends" in own
    extended = own.pop("extends", None)
    name = own.get(kind)
    alone = ResolvedFile(
        **attrs.asdict(document, recurse=False),
        lineage=(name if isinstance(name, str) else path.stem,),
        complete=document.tree is not UNREADABLE,
        documents=(document,),
    )
    if not extends:
        return alone
    if extended is UNREADABLE:
        return attrs.evolve(alone, complete=False)
    base = _base(document, extended, folders, kind, {} if known is None else known, seen)
    if isinstance(base, Finding):
        return attrs.evolve(alone, problems=(*alone.problems, base), complete=False)
    return _merged(alone, own, base)


def _base(
    document: Document, extended: Any, folders: Folders, kind: str, known: KnownFiles, seen: tuple[str, ...]
) -> ResolvedFile | Finding:
    place = document.places[("extends",)]

    def problem(rule: str, message: str, hint: str) -> Finding:
        return Finding(rule, ("extends",), message, hint, place=place)

    if not isinstance(extended, str):
        return problem("TYPE-1", "extends names one profile", "extends: burst")
    try:
        found = folders.find(extended, kind, near=document.path)
    except ProfileError as error:
        return problem("NAME-1", f"{shortened(extended)!r}, which it extends, does not exist", error.hint)
    # A path and not a resolved Path: that one raises on a symbolic link to itself.
    chain = (*seen, os.path.realpath(document.path))
    if os.path.realpath(found) in chain:
        names = " -> ".join(FilePath(file).stem for file in (*chain, str(found)))
        hint = "extend a profile that does not extend this one"
        return problem("EXT-1", f"extends goes round in a circle: {names}", hint)
    if len(chain) > _DEEPEST_EXTENDS:
        return problem("EXT-1", f"extends goes deeper than {_DEEPEST_EXTENDS} files", "state the votes themselves")
    key = (folders.paths, str(found), kind)
    base = known.get(key)
    # Another file may have met a circle or too long a chain where this one does not: only a complete result is shared.
    if base is not None and base.complete and len(chain) + len(base.lineage) <= _DEEPEST_EXTENDS:
        return base
    return known.setdefault(key, resolve_file(found, folders, kind, known, chain))


def _merged(file: ResolvedFile, own: dict[str, Any], base: ResolvedFile) -> ResolvedFile:
    """Return a file merged over the one that it extends, with the places of the values that remain."""
    replaced: set[Path] = set()
    inherited = base.tree.items() if isinstance(base.tree, dict) else ()
    tree = _merge({key: value for key, value in inherited if key not in _OWN}, own, (), replaced)

    def left(places: dict[Path, Place]) -> dict[Path, Place]:
        return {
            at: place
            for at, place in places.items()
            if not any(at[:length] in replaced for length in range(1, len(at)))
        }

    return attrs.evolve(
        file,
        tree=tree,
        places={**left(base.places), **file.places},
        key_places={**left(base.key_places), **file.key_places},
        problems=(*file.problems, *base.problems),
        lineage=(*file.lineage, *base.lineage),
        complete=base.complete,
        documents=(*file.documents, *base.documents),
    )


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

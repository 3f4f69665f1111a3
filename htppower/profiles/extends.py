"""Merges a file and the files that it extends into one tree that keeps the place of each value.

Also decides which files messages may quote: profiles and power states in the folders in use. A profile under review may
come from anyone, and a name in it, or a link in its folder, may lead to any file of the machine. Such a file is read,
since a profile may be outside the folders. But unless the whole file is a valid profile, messages show only its name,
at the field that names it.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, ProfileError, shortened
from htppower.profiles.discovery import IS_A_FOLDER, KIND_NAMES, SUFFIXES
from htppower.profiles.file_format import FILES, ONE_OF, structure
from htppower.profiles.paths import folder_of, stem_of
from htppower.profiles.strict_yaml import Document, read_document
from htppower.profiles.yaml_words import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import KeyPath, Place
    from htppower.profiles.discovery import Folders

# A profile or power state has at least one of these keys at its top level.
KEYS = frozenset({"profile", "state", "extends", "votes", "relax"})
# Fields that name a file or give the source of its own values. They are not inherited; all other fields are.
_OWN = frozenset({"profile", "state", "extends", "provenance"})
# The longest chain that a reviewer can understand.
_DEEPEST_EXTENDS = 20


@attrs.frozen(repr=False, eq=False, slots=False)
class ResolvedFile(Document):
    """A file merged with the files that it extends: the tree, places and problems of all of them.

    Attributes:
        lineage: the names, from this file to the last one that is extended.
        complete: whether all extended files are readable; if not, a missing field is not certainly missing.
        documents: the unmerged files, from this one to the last one that is extended.
        told_at: the files that may not be quoted, each with the place of the ``extends`` that leads to it.
    """

    lineage: tuple[str, ...]
    complete: bool
    documents: tuple[Document, ...]
    told_at: Mapping[str, Place] = attrs.field(factory=dict)

    def located(self, finding: Finding) -> Finding:
        """Return a finding with a place in a file that may be quoted."""
        found = self.written(finding)
        place = self.told_at.get(found.path)
        if place is None:
            return found
        message = f"{found.message} (inherited from {found.path}:{found.line})"
        return attrs.evolve(found, place=place, message=message)

    def written(self, finding: Finding) -> Finding:
        """Return a finding with the place of the value in its own file."""
        return super().located(finding)

    def order(self, problem: Finding) -> tuple[bool, str, int, int]:
        """Return a sort key for problems: those of this file first, then by file, line and column."""
        return problem.path != self.path, problem.path, problem.line, problem.column

    def written_in(self, at: KeyPath) -> str:
        """Return the file that contains a value."""
        place = self.places.get(at)
        return self.path if place is None else place.path


# The files merged so far; the key has the lookup folders, the folder of the requested file, the path and the kind.
KnownFiles = dict[tuple["Folders", str, str, str], ResolvedFile]


@attrs.frozen
class _Asked:
    """The requested file, and how further files are looked up."""

    top: str
    folders: Folders
    kind: str
    known: KnownFiles
    texts: Mapping[str, bytes]


def resolve_file(
    path: str,
    folders: Folders,
    kind: str,
    known: KnownFiles | None = None,
    texts: Mapping[str, bytes] = MappingProxyType({}),
) -> ResolvedFile:
    """Read a file and all files that it extends; fields of the nearer file win.

    Extended files are taken from ``known``, and added to it. ``texts`` replace the content of files, by real path.
    """
    return _resolve(path, _Asked(path, folders, kind, {} if known is None else known, texts), ())


def _resolve(path: str, asked: _Asked, seen: tuple[str, ...]) -> ResolvedFile:
    """Read a file, and all files that it extends; ``seen`` are the files that extend this one."""
    kind = asked.kind
    given = asked.texts.get(os.path.realpath(path)) if asked.texts else None
    document = read_document(path, kind, given)
    whole = document.tree if isinstance(document.tree, dict) else {}
    extends = "extends" in whole
    extended = whole.get("extends")
    own = {key: value for key, value in whole.items() if key != "extends"}
    name = own.get(kind)
    stated = attrs.evolve(document, tree=own) if extends else document
    alone = ResolvedFile(
        **attrs.asdict(stated, recurse=False),
        lineage=(name if isinstance(name, str) else stem_of(path),),
        complete=document.tree is not UNREADABLE,
        documents=(document,),
    )
    if not extends:
        return alone
    if extended is UNREADABLE:
        return attrs.evolve(alone, complete=False)
    base = _base(document, extended, asked, seen)
    if isinstance(base, Finding):
        return attrs.evolve(alone, problems=(*alone.problems, base), complete=False)
    return _merged(alone, own, base)


def _base(document: Document, extended: Any, asked: _Asked, seen: tuple[str, ...]) -> ResolvedFile | Finding:
    """Return the file that a file extends, or a finding at its ``extends``."""
    chain = (*seen, os.path.realpath(document.path))
    found = _find_base(document, extended, asked, chain)
    if isinstance(found, Finding):
        return found
    key = (asked.folders, folder_of(asked.top), found, asked.kind)
    base = asked.known.get(key)
    # With another file, the same chain may hit a cycle or the length limit, so only a complete result is shared.
    if base is None or not base.complete or len(chain) + len(base.lineage) > _DEEPEST_EXTENDS:
        base = _resolve(found, asked, chain)
        asked.known.setdefault(key, base)
    if may_be_quoted(base.documents[0], asked.folders, asked.top):
        return base
    place = document.places[("extends",)]
    if not (base.complete and is_sound(base, asked.kind)):
        return attrs.evolve(not_shown(extended, asked.kind, ("extends",), ", which it extends,"), place=place)
    return attrs.evolve(base, told_at=dict.fromkeys((found, *base.told_at), place))


def _find_base(document: Document, extended: Any, asked: _Asked, chain: tuple[str, ...]) -> str | Finding:
    """Return the path of the extended file, or why there is none; all of ``chain`` extend this file."""
    place = document.places[("extends",)]

    def problem(rule: str, message: str, hint: str) -> Finding:
        return Finding(rule, ("extends",), message, hint, place=place)

    if not isinstance(extended, str):
        return problem("TYPE-1", "extends names one profile", "extends: burst")
    try:
        found = asked.folders.find(extended, asked.kind, near=document.path)
    except ProfileError as error:
        is_folder = error.problems[0].message == IS_A_FOLDER
        said = "is a folder" if is_folder else "does not exist"
        return problem("NAME-1", f"{_named(extended)}, which it extends, {said}", error.hint)
    if os.path.realpath(found) in chain:
        names = " -> ".join(map(stem_of, (*chain, found)))
        hint = "extend a profile that does not extend this one"
        return problem("EXT-1", f"extends has a cycle: {names}", hint)
    if len(chain) > _DEEPEST_EXTENDS:
        return problem("EXT-1", f"extends goes deeper than {_DEEPEST_EXTENDS} files", "state the votes themselves")
    return found


def _merged(file: ResolvedFile, own: dict[str, Any], base: ResolvedFile) -> ResolvedFile:
    """Return a file merged over the file that it extends, with the places of the values that remain."""
    replaced: set[KeyPath] = set()
    inherited = base.tree.items() if isinstance(base.tree, dict) else ()
    tree = _merge({key: value for key, value in inherited if key not in _OWN}, own, (), replaced)

    def left(places: dict[KeyPath, Place]) -> dict[KeyPath, Place]:
        return {
            at: place
            for at, place in places.items()
            if not any(at[:length] in replaced for length in range(1, len(at) + 1))
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
        told_at=base.told_at,
    )


def _merge(base: dict[str, Any], over: dict[str, Any], at: KeyPath, replaced: set[KeyPath]) -> dict[str, Any]:
    """Merge two mappings. Record the replaced values; a new key also replaces the keys that it excludes."""
    others = {key for keys in ONE_OF if not keys.isdisjoint(over) for key in keys.difference(over)}
    replaced.update((*at, key) for key in others.intersection(base))
    merged = {key: value for key, value in base.items() if key not in others}
    for key, value in over.items():
        below = base.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merge(below, value, (*at, key), replaced)
        else:
            merged[key] = value
            replaced.add((*at, key))
    return merged


def may_be_quoted(document: Document, folders: Folders, top: str) -> bool:
    """Return whether messages may quote a file that is named by ``top``, or by a file that ``top`` extends."""
    if not os.path.realpath(document.path).endswith(SUFFIXES) or not folders.hold(document.path, top):
        return False
    keys = {at[0] for at in document.key_places if len(at) == 1}
    return not keys or not keys.isdisjoint(KEYS)


def is_sound(file: Document, kind: str) -> bool:
    """Return whether everything in a file belongs to a profile or power state; fields may be missing."""
    if file.problems or not isinstance(file.tree, dict) or KEYS.isdisjoint(file.tree):
        return False
    _, findings = structure(file.tree, FILES[kind])
    return all(finding.rule == "KEY-2" for finding in findings)


def not_shown(named: str, kind: str, at: tuple[str, ...], said: str = "") -> Finding:
    """Return the finding for a file that may not be quoted, at the field that names it."""
    message = f"{_named(named)}{said} is not a valid {KIND_NAMES[kind]}; its content is not shown"
    return Finding("NAME-1", at, message, f"name a {KIND_NAMES[kind]} in the folders in use")


def _named(path: str) -> str:
    """Return a path in quotes; the backslashes of Windows stay single."""
    return repr(shortened(path)).replace("\\\\", "\\")

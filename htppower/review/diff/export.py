"""Exports the files of a git revision that a comparison needs: the named ones, and what they extend and relax to."""

from __future__ import annotations

import functools
import os
import posixpath
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.discovery import SUFFIXES
from htppower.profiles.strict_yaml import read_document
from htppower.review.file_kinds import EXTENSION_SUFFIXES, Kind, extension_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path as FilePath

    Read = Callable[[list[str]], list[bytes]]

_LINK = "120000"
_REGULAR = frozenset({"100644", "100755"})
_SUBMODULE = "160000"
# Linux follows as many links on the way to a file.
_MOST_LINKS = 40


@attrs.frozen(repr=False, eq=False)
class Listing:
    """The entries of a revision, by path from the top, with slashes.

    Attributes:
        files: the blobs of regular files.
        links: the target of each link, as it is written.
        submodules: the folders that are repositories of their own.
    """

    files: Mapping[str, str]
    links: Mapping[str, str]
    submodules: tuple[str, ...]

    @classmethod
    def parse(cls, listed: bytes, read: Read) -> Listing:
        """Return the listing in the output of ``git ls-tree -r -z``.

        Paths that lead out of the tree are left out; git refuses to check them out, too.
        """
        entries: dict[str, list[tuple[str, str]]] = {_LINK: [], _SUBMODULE: [], "file": []}
        for entry in filter(None, listed.split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, blob = about.decode("ascii").split()
            name = os.fsdecode(path)
            kind = "file" if mode in _REGULAR else mode
            if kind in entries and _is_safe(name):
                entries[kind].append((name, blob))
        targets = read([blob for _, blob in entries[_LINK]])
        links = {name: os.fsdecode(target) for (name, _), target in zip(entries[_LINK], targets, strict=True)}
        return cls(dict(entries["file"]), links, tuple(name for name, _ in entries[_SUBMODULE]))

    @functools.cached_property
    def folders(self) -> Mapping[str, list[str]]:
        """The files with the names of YAML and of extension files, and the links, directly in each folder."""
        folders: dict[str, list[str]] = {}
        for name in (*self.files, *self.links):
            if name in self.links or name.endswith((*SUFFIXES, *EXTENSION_SUFFIXES)):
                folders.setdefault(posixpath.dirname(name), []).append(name)
        return folders

    def below(self, folder: str) -> Iterator[str]:
        """Yield the files with such names, and the links, in a folder and below."""
        for place, names in self.folders.items():
            if is_below(place, folder):
                yield from names

    def real(self, path: str, top: str, depth: int = 0) -> str | None:
        """Return the path with every link followed, as a file system does; None where it leads out of the tree."""
        if depth > _MOST_LINKS:
            return None
        if posixpath.isabs(path):
            if not is_below(path, top):
                return None
            path = path[len(top) :]
        done: list[str] = []
        for part in path.split("/"):
            if part in {"", "."}:
                continue
            if part == "..":
                if not done:
                    return None
                done.pop()
                continue
            done.append(part)
            target = self.links.get("/".join(done))
            if target is not None:
                there = target if posixpath.isabs(target) else "/".join((*done[:-1], target))
                led = self.real(there, top, depth + 1)
                if led is None:
                    return None
                done = led.split("/") if led else []
        return "/".join(done)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or in it; the empty folder is the top."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def export(listing: Listing, starts: Iterable[str], root: FilePath, top: str, read: Read, working: str = "") -> None:
    """Write files of YAML and JSON into the folder ``root``: those below ``starts``, what these name, and every link.

    ``starts`` are paths from the top of the repository, with slashes; the empty one is the top.
    ``working`` is such a path of the working folder, from which an outer extension file may name others.
    """
    for name, target in listing.links.items():
        _make_link(listing, name, target, root, top)
    seen: set[str] = set()
    written: set[str] = set()
    wanted = list(starts)
    while wanted:
        paths = [path for path in dict.fromkeys(wanted) if path not in seen]
        seen.update(paths)
        wanted = []
        files: dict[str, str] = {}
        for path in paths:
            led = listing.real(path, top)
            if led is not None and led in listing.files:
                files[path] = led
            elif led is not None:
                wanted += listing.below(led)
        new = [led for led in dict.fromkeys(files.values()) if led not in written]
        for led, content in zip(new, read([listing.files[led] for led in new]), strict=True):
            (root / led).parent.mkdir(parents=True, exist_ok=True)
            (root / led).write_bytes(content)
        written.update(new)
        for path, led in files.items():
            wanted += _paths_from(listing, path, root / led, working)


def _is_safe(name: str) -> bool:
    parts = name.split("/")
    return not {"", ".", "..", ".git"}.intersection(parts) and "\\" not in name and ":" not in name[:2]


def _make_link(listing: Listing, name: str, target: str, root: FilePath, top: str) -> None:
    """Make a link of the revision, unless it leads out of the tree."""
    led = listing.real(name, top)
    if led is None or listing.real(posixpath.dirname(name), top) != posixpath.dirname(name):
        return
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(root / led if posixpath.isabs(target) else target)


def _paths_from(listing: Listing, path: str, file: FilePath, working: str) -> list[str]:
    """Return the paths that a file names, and the files near it, which it may name without a path."""
    if not path.endswith(SUFFIXES) and extension_kind(str(file)) is Kind.EXTENSION:
        from htppower.review.diff.extension_parts import paths_named_by  # noqa: PLC0415 - only where there is such a file

        below = paths_named_by(str(file))
        return [posixpath.join(folder, each) for each in below for folder in (posixpath.dirname(path), working)]
    tree = read_document(str(file)).tree
    tree = tree if isinstance(tree, dict) else {}
    relax = tree.get("relax")
    relax = relax if isinstance(relax, dict) else {}
    then = relax.get("then")
    further = then.get("to") if isinstance(then, dict) else None
    named = (tree.get("extends"), relax.get("to"), relax.get("after_deinit_to"), further)
    folder = posixpath.dirname(path)
    texts = [text for text in named if isinstance(text, str) and ("/" in text or text.endswith(SUFFIXES))]
    paths = [posixpath.join(folder, text) for text in texts]
    near = (folder, posixpath.dirname(folder), posixpath.join(folder, "states"))
    mates = (each for place in near for each in listing.folders.get(place, ()))
    return [*paths, *(each for each in mates if not each.endswith(EXTENSION_SUFFIXES))]

"""The files of a git revision that a comparison reaches: those that are named, and what they extend and relax to."""

from __future__ import annotations

import functools
import os
import posixpath
from typing import TYPE_CHECKING

import attrs

from htppower.documents import read_document
from htppower.files import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path as FilePath

_LINK = "120000"
_REGULAR = frozenset({"100644", "100755"})
_SUBMODULE = "160000"


@attrs.frozen(repr=False, eq=False)
class Listing:
    """The entries of a revision: mode and blob by path from the top, with slashes.

    Attributes:
        entries: those that a work tree can have.
    """

    entries: Mapping[str, tuple[str, str]]

    @functools.cached_property
    def folders(self) -> Mapping[str, list[str]]:
        """The entries directly in each folder."""
        folders: dict[str, list[str]] = {}
        for name in self.entries:
            folders.setdefault(posixpath.dirname(name), []).append(name)
        return folders

    @classmethod
    def parse(cls, listed: bytes) -> Listing:
        """Return the listing that ``git ls-tree -r -z`` gives.

        A path that leads out of the tree, which git itself refuses to check out, is left out.
        """
        entries = {}
        for entry in filter(None, listed.split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, blob = about.decode("ascii").split()
            name = os.fsdecode(path)
            if not {"", ".", "..", ".git"}.intersection(name.split("/")) and "\\" not in name and ":" not in name[:2]:
                entries[name] = (mode, blob)
        return cls(entries)

    def below(self, path: str) -> Iterator[str]:
        """Yield the entries of a folder and below, or the entry itself."""
        prefix = f"{path}/" if path else ""
        yield from (name for name in self.entries if name == path or name.startswith(prefix))

    def submodule(self, path: str) -> str | None:
        """Return the submodule that a path is in, or that is below it."""
        modules = (name for name, (mode, _) in self.entries.items() if mode == _SUBMODULE)
        return next((name for name in modules if _is_below(path, name) or _is_below(name, path)), None)


def export(listing: Listing, starts: Iterable[str], root: FilePath, read: Callable[[list[str]], list[bytes]]) -> None:
    """Write the YAML files below some paths, and all that these reach, into a folder.

    Args:
        listing: of the revision.
        starts: paths from the top of the repository, with slashes; empty for the top.
        root: the folder.
        read: returns the contents of blobs.
    """
    seen: set[str] = set()
    starts = tuple(starts)
    wanted = [name for start in starts for name in listing.below(start) if _is_wanted(listing, name)]
    # A link on the way to a start is part of it.
    links = [name for name, (mode, _) in listing.entries.items() if mode == _LINK]
    wanted += [name for name in links if any(_is_below(start, name) for start in starts)]
    while wanted:
        batch = [name for name in dict.fromkeys(wanted) if name not in seen and name in listing.entries]
        seen.update(wanted)
        batch = [name for name in batch if listing.entries[name][0] in {*_REGULAR, _LINK}]
        contents = read([listing.entries[name][1] for name in batch])
        wanted = []
        for name, content in zip(batch, contents, strict=True):
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if listing.entries[name][0] == _LINK:
                leads_to = _link(target, name, os.fsdecode(content))
                wanted += [each for each in listing.below(leads_to) if _is_wanted(listing, each)] if leads_to else []
                wanted += _beside(listing, name)
            else:
                target.write_bytes(content)
                wanted += _reached(listing, name, target)


def _is_wanted(listing: Listing, name: str) -> bool:
    return name.endswith(SUFFIXES) or listing.entries[name][0] == _LINK


def _is_below(path: str, folder: str) -> bool:
    return path == folder or not folder or path.startswith(f"{folder}/")


def _link(target: FilePath, name: str, leads_to: str) -> str | None:
    """Make a link, and return to what it leads; one that leads out of the tree is not made."""
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(name), leads_to))
    if posixpath.isabs(leads_to) or inside.split("/")[0] == "..":
        return None
    target.symlink_to(leads_to)
    return inside


def _reached(listing: Listing, name: str, file: FilePath) -> list[str]:
    """Return what a file names by path, and what stands beside it, which it may name."""
    tree = read_document(file).tree
    tree = tree if isinstance(tree, dict) else {}
    relax = tree.get("relax")
    named = (tree.get("extends"), relax.get("to") if isinstance(relax, dict) else None)
    folder = posixpath.dirname(name)
    paths = [posixpath.normpath(posixpath.join(folder, text)) for text in named if isinstance(text, str) and text]
    return [*(path for path in paths if path in listing.entries), *_beside(listing, name)]


def _beside(listing: Listing, name: str) -> list[str]:
    """Return the profiles in the folder of a file, and the power states that these find by name."""
    folder = posixpath.dirname(name)
    near = (folder, posixpath.dirname(folder), posixpath.join(folder, "states"))
    return [each for place in near for each in listing.folders.get(place, ()) if _is_wanted(listing, each)]

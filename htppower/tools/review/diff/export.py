"""Exports the files of a git revision that a comparison needs: the named files, and what they extend and relax to."""

from __future__ import annotations

import bisect
import collections
import contextlib
import functools
import os
import posixpath
import tempfile
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError, shortened
from htppower.profiles.discovery import SUFFIXES
from htppower.profiles.strict_yaml import read_document
from htppower.tools.review.file_kinds import EXTENSION_SUFFIXES, Kind, extension_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path as FilePath

    Read = Callable[[list[str]], list[bytes]]

_LINK = "120000"
_REGULAR = frozenset({"100644", "100755"})
_SUBMODULE = "160000"
# Linux reads at most this many links on the way to a file, and only paths with fewer bytes than this.
_MOST_LINKS = 40
_LONGEST_PATH = 4096
# The part of a path that means the top of the tree.
_TOP = "/"


class NoRevision(HtpPowerError, ValueError):  # noqa: N818 - the name states the fault
    """Git or the repository is missing, or the revision can't be read."""


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

        Paths that lead out of the tree are left out. Git refuses to check them out, too.

        Raises:
            NoRevision: two entries can't be in the same folder.
        """
        entries: dict[str, list[tuple[str, str]]] = {_LINK: [], _SUBMODULE: [], "file": []}
        for entry in filter(None, listed.split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, blob = about.decode("ascii").split()
            name = os.fsdecode(path)
            kind = "file" if mode in _REGULAR else mode
            if kind in entries and _is_safe(name):
                entries[kind].append((name, blob))
        _refuse_conflicts([name for each in entries.values() for name, _ in each])
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
        """Yield such files and the links in a folder and below."""
        if folder:
            yield from self.folders.get(folder, ())
        beginning = f"{folder}/" if folder else ""
        for place in self._places[bisect.bisect_left(self._places, beginning) :]:
            if not place.startswith(beginning):
                break
            yield from self.folders[place]

    @functools.cached_property
    def _places(self) -> list[str]:
        return sorted(self.folders)

    def real(self, path: str, top: str) -> str | None:
        """Return the path with every link resolved, as a file system does.

        The result is None if the path leads out of the tree, or through more links than a file system resolves.
        """
        folder, links = "", 0
        parts = _parts(path, top)
        while parts:
            part = parts.pop()
            if part == _TOP:
                folder = ""
            elif part == "..":
                if not folder:
                    return None
                folder = posixpath.dirname(folder)
            elif part not in {"", "."}:
                folder = posixpath.join(folder, part)
                if folder in self.links:
                    links += 1
                    target = _parts(self.links[folder], top) if links <= _MOST_LINKS else None
                    if target is None or not self.links[folder]:
                        return None
                    folder = posixpath.dirname(folder)
                    parts += target
        return None if parts is None else folder


def _parts(path: str, top: str) -> list[str] | None:
    """Return the parts of a path, the last one first; None if it is absolute and not below the top, or impossible."""
    if "\0" in path or len(os.fsencode(path)) >= _LONGEST_PATH:
        return None
    if not posixpath.isabs(path):
        return path.split("/")[::-1]
    return [*path[len(top) :].split("/")[::-1], _TOP] if is_below(path, top) else None


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or in it. The empty folder is the top."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def export(listing: Listing, starts: Iterable[str], root: FilePath, top: str, read: Read, working: str = "") -> None:
    """Write the YAML and JSON files below ``starts``, and the files they name, into the folder ``root``.

    Links are written, too, unless they lead out of the tree.

    ``starts`` are paths from the top of the repository, with slashes. The empty path is the top. ``working`` is the
    path of the working folder, where an outer extension file may name others.
    """
    for name, target in listing.links.items():
        led = listing.real(name, top)
        if led is not None:
            with _writing(name):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).symlink_to(root / led if posixpath.isabs(target) else target)
    seen: set[str] = set()
    # The folders whose files are all needed, and the folders near which some files are needed.
    expanded: set[str] = set()
    visited: set[str] = set()
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
            elif led is not None and led not in expanded:
                expanded.add(led)
                wanted += listing.below(led)
        new = [led for led in dict.fromkeys(files.values()) if led not in written]
        for led, content in zip(new, read([listing.files[led] for led in new]), strict=True):
            with _writing(led):
                (root / led).parent.mkdir(parents=True, exist_ok=True)
                (root / led).write_bytes(content)
        written.update(new)
        for path, led in files.items():
            wanted += _paths_from(listing, path, root / led, working, visited)


@contextlib.contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise NoRevision(
            f"{shortened(name)!r} of the revision can't be written to {tempfile.gettempdir()}: {reason}"
        ) from None


def _is_safe(name: str) -> bool:
    parts = name.split("/")
    return not {"", ".", "..", ".git"}.intersection(parts) and "\\" not in name and ":" not in name[:2]


def _refuse_conflicts(names: list[str]) -> None:
    """Refuse a tree with a name twice, or with a file or a link that is also a folder. Git never makes such a tree."""
    known = set(names)
    if len(known) < len(names):
        (name, _), *_ = collections.Counter(names).most_common(1)
        raise NoRevision(f"the revision is malformed, it has {shortened(name)!r} twice: git fsck shows more")
    folders: set[str] = set()
    for name in names:
        folder = posixpath.dirname(name)
        while folder and folder not in folders:
            if folder in known:
                what = f"{shortened(folder)!r} is a file or a link, and a folder"
                raise NoRevision(f"the revision is malformed, {what}: git fsck shows more")
            folders.add(folder)
            folder = posixpath.dirname(folder)


def _paths_from(listing: Listing, path: str, file: FilePath, working: str, visited: set[str]) -> list[str]:
    """Return the paths that a file names, and the files near it, which it may name without a path.

    Files in ``visited`` folders are left out. The folders near the file are added to ``visited``.
    """
    if not path.endswith(SUFFIXES) and extension_kind(str(file)) is Kind.EXTENSION:
        from htppower.tools.review.diff.extension_parts import paths_named_by  # noqa: PLC0415 - only if there is such a file

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
    near = {folder, posixpath.dirname(folder), posixpath.join(folder, "states")} - visited
    visited |= near
    mates = (each for place in near for each in listing.folders.get(place, ()))
    return [*paths, *(each for each in mates if not each.endswith(EXTENSION_SUFFIXES))]

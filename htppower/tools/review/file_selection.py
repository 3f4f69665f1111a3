"""Selects the files for a command: in folders and subfolders, without files that are not reviewed, or by a name."""

import contextlib
import functools
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import SUFFIXES, Folders, holds_all, shipped_folder
from htppower.profiles.names import RECORDS, SHIPPED_PROFILES, above_records
from htppower.profiles.paths import folder_of, joined, relative_path
from htppower.profiles.regular_file import NotRegular, leads_out
from htppower.tools.review.file_kinds import Kind, folder_name, is_extension_in_folder, kind_of, named_kind

# Annotations are not postponed here: a named tuple would compile each of its types anew, which slows the start.


class Source(NamedTuple):
    """A file, with its path as the user wrote it, and its kind."""

    path: str
    kind: Kind

    @property
    def home(self) -> str:
        """The folder of profiles of the file. A power state's file is in a subfolder ``states`` of it."""
        folder = folder_of(self.path)
        above = self.kind is Kind.STATE and folder_name(self.path) == "states"
        return os.path.normpath(os.path.join(folder, os.pardir)) if above else folder


class Found(NamedTuple):
    """The files of some paths.

    Attributes:
        sources: the profiles and power states, each once, sorted.
        left_out: other YAML files in the folders.
        empty: folders without profiles and power states.
    """

    sources: tuple[Source, ...]
    left_out: tuple[str, ...]
    empty: tuple[str, ...]


def find_sources(
    paths: Iterable[str | os.PathLike[str]],
    exclude: Iterable[str] = (),
    *,
    extensions: bool = False,
    devices: bool = False,
) -> Found:
    """Return the files, and the profiles and power states in the folders and their subfolders.

    With ``extensions``, the vendor's extension files are sources, too, whatever their names: named JSON files, and
    files in folders that have a key of such a file at their top. Other JSON is left out. With ``devices``, device
    models are sources, too; else they count as other YAML.

    A file that matches a pattern of ``exclude`` is left out, even if it is named. A pattern is compared with every part
    of a path, such as the name of a file, of a folder, or ``drafts/*.yaml``.

    A named file counts as a profile or power state, whatever it holds. In folders, hidden files and other YAML are left
    out. Vote tests are left out everywhere: ``htppower test`` checks them.

    Raises:
        ProfileError: FILE-1, a path does not exist, can't be read, or is a pipe or a device.
    """
    named: dict[str, str] = {}
    below: dict[str, str] = {}
    folders: dict[str, set[str]] = {}
    problems = []
    # An empty path is not taken for the current folder, since it may come from a variable that is not set.
    for path in (joined(given) if os.fspath(given) else "" for given in paths):
        try:
            if os.path.isdir(path):
                files = {os.path.realpath(file): file for file in _files(path, extensions=extensions)}
                folders[path] = set(files)
                below.update(files)
            else:
                if not stat.S_ISREG(os.stat(path).st_mode):
                    raise NotRegular("not a regular file")
                named[os.path.realpath(path)] = path
        except (OSError, ValueError) as error:
            said = "no such file or folder" if isinstance(error, FileNotFoundError) else reason_of(error)
            problems.append(Finding.of_file(path, "FILE-1", f"can't be read: {said}", "check the path"))
    if problems:
        raise ProfileError(problems)
    patterns = tuple(exclude)
    sources, left_out = [], []
    read = set()
    for real, file in sorted({**below, **named}.items(), key=lambda pair: pair[1]):
        if patterns and matches(file, patterns):
            below.pop(real, None)
            continue
        kind = _kind(file, named=real in named, extensions=extensions, devices=devices)
        if kind is Kind.OTHER and real not in named:
            left_out.append(file)
        elif kind is not Kind.TEST:
            sources.append(Source(file, Kind.PROFILE if kind is Kind.OTHER else kind))
            read.add(real)
    # A folder whose files are all left out on purpose is not a wrong folder.
    empty = [folder for folder, files in folders.items() if not files & read and not files - set(below)]
    return Found(tuple(sources), tuple(left_out), tuple(empty))


def leads_elsewhere(path: str, folders: Iterable[str] = ()) -> bool:
    """Return whether a path leads out of its folder by a link.

    Leading into the current folder or one of ``folders`` is allowed if the path seems to be below it.
    """
    seems = os.path.abspath(path)
    below = (each for each in (os.curdir, *folders) if seems.startswith(os.path.join(os.path.abspath(each), "")))
    return any(leads_out(path, each) for each in (folder_of(path), *below))


def _kind(file: str, *, named: bool, extensions: bool, devices: bool) -> Kind:
    """Return the kind of a file for a command that takes extension files, or models and services, or neither."""
    kind = named_kind(file) if extensions and named else None
    if kind is None:
        kind = Kind.EXTENSION if extensions and is_extension_in_folder(file) else kind_of(file)
    return Kind.OTHER if kind in (Kind.DEVICE, Kind.SERVICE) and not devices else kind


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a part of a path matches a pattern."""
    names = tuple(pattern.replace(os.sep, "/").strip("/") for pattern in patterns)
    parts = [part for part in relative_path(path).split(os.sep) if part != os.pardir]
    return bool(names) and any(map(_matcher(names), ("/".join(parts[start:]) for start in range(len(parts)))))


@functools.lru_cache(maxsize=1)
def _matcher(names: tuple[str, ...]) -> Callable[[str], object]:
    """Return a function that matches a pattern with the beginning of a path, up to its end or to a folder."""
    import fnmatch  # noqa: PLC0415 - only for a pattern

    said = "|".join(fnmatch.translate(each) for name in names for each in (name, f"{name}/*"))
    return re.compile(said).match


def _files(path: str, *, extensions: bool = False) -> Iterator[str]:
    """Yield the YAML files of a folder and its subfolders, and with ``extensions`` its extension files.

    Hidden files are left out. A folder is visited once, even if several links lead to it.

    The records in the shipped folder, or in a copy of it, are left out, since users do not write them.

    Raises:
        OSError: the folder itself can't be read.
    """
    os.listdir(path)  # only subfolders may be unreadable
    # os.walk recurses in Python 3.11 and earlier, and folders may be nested deeper than that allows.
    waiting = [path]
    walked: set[tuple[int, int]] = set()
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            about = os.stat(folder)
            if (about.st_dev, about.st_ino) in walked:
                continue
            walked.add((about.st_dev, about.st_ino))
            for entry in entries:
                if _is_folder(entry):
                    below = joined(folder, entry.name)
                    waiting += [] if entry.name.startswith(".") or _are_shipped_records(below) else [below]
                elif not entry.name.startswith("."):
                    file = joined(folder, entry.name)
                    if entry.name.endswith(SUFFIXES) or (extensions and is_extension_in_folder(file)):
                        yield file


def _are_shipped_records(folder: str) -> bool:
    """Return whether a folder holds the records next to the shipped profiles, or is a copy of that folder."""
    return os.path.basename(folder) == RECORDS and holds_all(folder_of(folder), SHIPPED_PROFILES)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder. A broken link counts as a file, and reading it reports the fault."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def reason_of(error: Exception) -> str:
    """Return why a file can't be read."""
    return getattr(error, "strerror", None) or str(error)


def find_either(name: str, folders: Folders) -> tuple[str, Kind]:
    """Return the file of a profile, or of a power state if no profile has the name, by name or path.

    Raises:
        ProfileError: neither exists.
    """
    try:
        path = folders.find(name, "profile")
    except ProfileError as error:
        if error.rule != "NAME-1":
            raise
        try:
            return folders.find(name, "state"), Kind.STATE
        except ProfileError:
            raise error from None
    return path, Kind.STATE if kind_of(path) is Kind.STATE else Kind.PROFILE


def folders_of(home: str, named: Iterable[str] = (), shipped: str | None = None) -> Folders:
    """Return the folders to look up names in the files of a folder; ``shipped`` replaces the shipped folder.

    The shipped folder is first, as when a profile is used, then the folder itself, then the named ones. A folder with a
    profile for every shipped name is a copy of the shipped folder, and replaces it. Records of a runtime's votes use
    the folder above theirs.
    """
    above = above_records(home)
    if above is not None:
        return folders_of(above, (home, *named), shipped)
    shipped = shipped_folder() if shipped is None else shipped
    if holds_all(home, SHIPPED_PROFILES):
        # The user may write the path of the shipped folder in another way. Its files are still read once.
        is_shipped = os.path.realpath(home) == os.path.realpath(shipped)
        return Folders((home, *named) if is_shipped else (home, *named, shipped))
    return Folders((shipped, home, *named))

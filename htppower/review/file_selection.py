"""Selects the files for a command: finds them, tells what each holds, and where its names are looked up."""

from __future__ import annotations

import codecs
import contextlib
import enum
import fnmatch
import os
import re
import stat
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import DEVICES, RECORDS, SUFFIXES, Folders, above_records, shipped_folder, yaml_files
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.quoting import KEYS
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, NotRegular, read_regular_file
from htppower.profiles.top_keys import NoMapping, top_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A test of profiles has both of these.
_OF_TESTS = frozenset({"test", "cases"})
# A device model has the first of these, and one of the others.
_DEVICE = "device"
_OF_DEVICES = frozenset({"active_w", "raised_idle_w", "raise_late_us", "raise_call_us", "speeds", "wakes"})
_KNOWN_KEYS = _OF_TESTS.union(KEYS, _OF_DEVICES, {_DEVICE})
JSON = ".json"
# Keys at the top of an extension file that hardly another file has, and those of other files.
_EXTENSION_TOP = frozenset({"devices", "graphs", "groupContext", "backend_extensions"})
_NO_EXTENSION = frozenset({"$schema", *KEYS})
_EXTENSION_KEY = rb'"(?:devices|graphs|groupContext|backend_extensions)"\s*:\s*[\[{]'
# A key of a profile or power state, wherever it stands.
_OWN_KEY = rf"\b(?:{'|'.join(sorted(KEYS))})\b[\"']?\s*:".encode()
_KEY = r"^[\"']?(?P<key>\w+)[\"']?\s*:"


class Kind(enum.Enum):
    """What a file holds; OTHER is any other YAML."""

    PROFILE = "profile"
    STATE = "power state"
    TEST = "test"
    EXTENSION = "extension file"
    DEVICE = "device model"
    OTHER = "other"


class Source(NamedTuple):
    """A file, spelt as the user spells it, and what it holds."""

    path: FilePath
    kind: Kind

    @property
    def home(self) -> FilePath:
        """The folder of profiles of the file; a power state's is above its folder ``states``."""
        folder = self.path.parent
        above = self.kind is Kind.STATE and folder_name(self.path) == "states"
        return FilePath(os.path.normpath(folder / os.pardir)) if above else folder


class Found(NamedTuple):
    """The files of some paths.

    Attributes:
        sources: the profiles and power states, each once, sorted.
        left_out: other YAML in the folders.
        empty: folders without profiles and power states.
    """

    sources: tuple[Source, ...]
    left_out: tuple[FilePath, ...]
    empty: tuple[FilePath, ...]


def find_sources(
    paths: Iterable[str | os.PathLike[str]],
    exclude: Iterable[str] = (),
    *,
    extensions: bool = False,
    devices: bool = False,
) -> Found:
    """Return the files, and the profiles and power states in the folders and below.

    With ``extensions``, the vendor's extension files are sources, too: a named file that ends in .json, and those in
    folders that hold a key of such a file at their top. Other JSON is left alone. With ``devices``, device models are;
    they count as other YAML without.

    What matches a pattern of ``exclude`` is left out, named or not: a pattern is held against every part of a path,
    such as the name of a file, of a folder, or ``drafts/*.yaml``.

    A named file counts as a profile or power state, whatever it holds. In folders, hidden files and other YAML are left
    out. Tests of profiles are left out everywhere: ``htppower test`` checks them.

    Raises:
        ProfileError: FILE-1, a path does not exist, can't be read, or is a pipe or a device.
    """
    named: dict[str, FilePath] = {}
    below: dict[str, FilePath] = {}
    folders: dict[FilePath, set[str]] = {}
    problems = []
    for path in map(FilePath, paths):
        try:
            if path.is_dir():
                files = {os.path.realpath(file): file for file in _files(path, extensions=extensions)}
                folders[path] = set(files)
                below.update(files)
            else:
                _require_regular(path)
                named[os.path.realpath(path)] = path
        except (OSError, ValueError) as error:
            said = "no such file or folder" if isinstance(error, FileNotFoundError) else _reason(error)
            problems.append(Finding.of_file(str(path), "FILE-1", f"can't be read: {said}", "check the path"))
    if problems:
        raise ProfileError(problems)
    patterns = tuple(exclude)
    sources, left_out = [], []
    read = set()
    for real, file in sorted({**below, **named}.items(), key=lambda pair: str(pair[1])):
        if patterns and _matches(file, patterns):
            below.pop(real, None)
            continue
        kind = json_kind(file, named=real in named) if extensions and file.suffix == JSON else kind_of(file)
        if kind is Kind.DEVICE and not devices:
            kind = Kind.OTHER
        if kind is Kind.OTHER and real not in named:
            left_out.append(file)
        elif kind is not Kind.TEST:
            sources.append(Source(file, Kind.PROFILE if kind is Kind.OTHER else kind))
            read.add(real)
    # A folder of which all is left out on purpose is not the wrong folder.
    empty = [folder for folder, files in folders.items() if not files & read and not files - set(below)]
    return Found(tuple(sources), tuple(left_out), tuple(empty))


def _require_regular(path: FilePath) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRegular("no regular file")


def _matches(path: FilePath, patterns: Iterable[str]) -> bool:
    """Return whether a part of a path matches a pattern."""
    parts = [part for part in FilePath(os.path.relpath(path)).parts if part != os.pardir]
    said = ["/".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)]
    return any(fnmatch.fnmatchcase(part, pattern.strip("/")) for part in said for pattern in patterns)


def kind_of(path: FilePath, given: bytes | None = None) -> Kind:
    """Return what a file holds, or what is ``given`` in its place, by its folder and its top keys.

    A file that can't be read counts as a profile; reading it then says what is wrong.
    """
    folder = folder_name(path)
    of_tests = 1 if folder == "tests" else len(_OF_TESTS)  # how many keys of a test make it one
    keys = _keys(path, given, of_tests)
    if len(keys & _OF_TESTS) >= of_tests:
        return Kind.TEST
    if folder == "states" or ("state" in keys and "profile" not in keys):
        return Kind.STATE
    if _DEVICE in keys and keys.isdisjoint(KEYS) and (folder == DEVICES or not keys.isdisjoint(_OF_DEVICES)):
        return Kind.DEVICE
    return Kind.PROFILE if keys.intersection(KEYS) else Kind.OTHER


def extension_kind(path: FilePath, given: bytes | None = None) -> Kind:
    """Return whether a JSON file is an extension file, by the keys at its top; a broken one, by a key anywhere."""
    try:
        data = read_regular_file(path) if given is None else given
    except (OSError, ValueError):
        return Kind.OTHER
    if len(data) > LARGEST_FILE_BYTES or not re.search(_EXTENSION_KEY, data):
        return Kind.OTHER
    import json  # noqa: PLC0415 - only for such a file

    try:
        top = json.loads(data)
    except (ValueError, RecursionError):
        return Kind.EXTENSION
    is_one = isinstance(top, dict) and not _EXTENSION_TOP.isdisjoint(top) and _NO_EXTENSION.isdisjoint(top)
    return Kind.EXTENSION if is_one else Kind.OTHER


def json_kind(path: FilePath, *, named: bool) -> Kind:
    """Return what a JSON file is; a named one that is no profile, which may be written so, is an extension file."""
    if not named or extension_kind(path) is Kind.EXTENSION:
        return Kind.EXTENSION
    other = kind_of(path)
    return other if other in (Kind.PROFILE, Kind.STATE) and _has_a_key(path) else Kind.EXTENSION


def _has_a_key(path: FilePath) -> bool:
    """Return whether a key of a profile or power state stands anywhere in a file, which may be broken."""
    try:
        return re.search(_OWN_KEY, read_regular_file(path)) is not None
    except (OSError, ValueError):
        return False


def folder_name(path: FilePath) -> str:
    """Return the name of a file's folder, even if the path does not contain it."""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH119, PTH120 - links stay


def find_either(name: str, folders: Folders) -> tuple[FilePath, Kind]:
    """Return the file of a profile, or of a power state where no profile has the name, by name or path.

    Raises:
        ProfileError: there is neither.
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


def folders_of(home: FilePath, named: Iterable[FilePath] = (), shipped: FilePath | None = None) -> Folders:
    """Return where names in the files of a folder are looked up; ``shipped`` replaces the shipped folder.

    The shipped folder comes first, as when a profile is used, then the folder itself, then the named ones. A folder
    with a profile for every shipped name is a copy of the shipped folder, and takes its place. Records of what a
    runtime votes are used with the folder in which their runtime's is.
    """
    above = above_records(home)
    if above is not None:
        return folders_of(above, (home, *named), shipped)
    shipped = shipped_folder() if shipped is None else shipped
    names = {file.stem for file in yaml_files(home)}
    if names.issuperset(SHIPPED_PROFILES):
        # The user may spell the shipped folder in another way; its files are read once.
        is_shipped = os.path.realpath(home) == os.path.realpath(shipped)
        return Folders((home, *named) if is_shipped else (home, *named, shipped))
    return Folders((shipped, home, *named))


def _keys(path: FilePath, given: bytes | None, of_tests: int) -> set[str]:
    """Return the keys at the top of a file.

    Keys of a profile at the beginning of lines count. Without any, or with a key of a test, which would leave the file
    out, the file is parsed: until it has so many keys ``of_tests`` that it is one.
    """
    try:
        data = (read_regular_file(path) if given is None else given)[:LARGEST_FILE_BYTES]
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    except (OSError, ValueError):
        return set(KEYS)
    keys = {match["key"] for match in re.finditer(_KEY, text, re.MULTILINE)} & _KNOWN_KEYS
    if keys - _OF_DEVICES and not keys & _OF_TESTS:
        return keys
    parsed: set[str] = set()
    try:
        for key in top_keys(text):
            parsed.add(key)
            if len(parsed & _OF_TESTS) >= of_tests:
                break
    except NoMapping:
        return keys or set(KEYS)
    return parsed


def _files(path: FilePath, *, extensions: bool = False) -> Iterator[FilePath]:
    """Yield the YAML files of a folder and below, and JSON with ``extensions``, except hidden ones.

    A folder behind several links is walked once.

    The records of the shipped folder, or of a copy of it, are left out: they are no work of its reviewer.

    Raises:
        OSError: the folder itself can't be read.
    """
    suffixes = (*SUFFIXES, JSON) if extensions else SUFFIXES
    os.listdir(path)  # noqa: PTH208 - only folders below may be unreadable
    # os.walk recurses in Python 3.11 and earlier, and folders may be deeper than that allows.
    waiting = [path]
    walked: set[tuple[int, int]] = set()
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            about = folder.stat()
            if (about.st_dev, about.st_ino) in walked:
                continue
            walked.add((about.st_dev, about.st_ino))
            for entry in entries:
                if _is_folder(entry):
                    below = folder / entry.name
                    waiting += [] if entry.name.startswith(".") or _are_shipped_records(below) else [below]
                elif entry.name.endswith(suffixes) and not entry.name.startswith("."):
                    file = folder / entry.name
                    if not entry.name.endswith(JSON) or extension_kind(file) is Kind.EXTENSION:
                        yield file


def _are_shipped_records(folder: FilePath) -> bool:
    """Return whether a folder holds the records beside the shipped profiles, or a copy of both."""
    if folder.name != RECORDS:
        return False
    return {file.stem for file in yaml_files(folder.parent)}.issuperset(SHIPPED_PROFILES)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder. A broken link is a file; reading it says what is wrong."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)

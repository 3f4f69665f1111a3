"""Finds profile files."""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError, shortened
from htppower.profiles.did_you_mean import did_you_mean, nearest
from htppower.profiles.names import RECORDS, SEPARATOR
from htppower.profiles.paths import folder_of, joined, path_below, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".yaml", ".yml")
IS_A_FOLDER = "is a folder"
# The subfolder with device models.
DEVICES = "devices"
# For each kind of file: its subfolder, and the name of the kind in messages.
_FOLDER_OF = {"state": "states", "device": DEVICES}
KIND_NAMES = {"profile": "profile", "state": "power state", "device": "device model"}
_NOT_INSTALLED = "the shipped profiles are not a folder: install or unpack htppower, which can't run from a zip file"
# These file systems find burst.yaml as Burst.yaml, but a device does not.
_IGNORES_CASE = sys.platform in ("win32", "darwin")
# At most this many names of a folder are compared when a similar name is suggested.
_MOST_NAMES = 200
# The parts of a record's name. No part can lead out of a folder, and a path contains no colon.
_RECORD = r"(?P<runtime>\w[\w.-]*):(?P<name>\w[\w.-]*)"


@functools.cache
def shipped_folder() -> str:
    """Return the folder of the shipped profiles: inside an installed package, next to the package in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    installed = os.path.join(package, "shipped_profiles")
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(package), "profiles")


def shipped_problem() -> ProfileError | None:
    """Return an error if the shipped profiles are not a folder, as in a zip file; otherwise None."""
    folder = shipped_folder()
    if os.path.isdir(folder):
        return None
    return ProfileError([Finding.of_file(folder, "FILE-1", "is not a folder", _NOT_INSTALLED)])


def shown_path(path: str) -> str:
    """Return a path as messages show it: a shipped file by its name, wherever it is installed."""
    shipped = f"{shipped_folder()}{os.sep}"
    return f"shipped {path.removeprefix(shipped)}" if path.startswith(shipped) else path


def is_record(name: str) -> bool:
    """Return whether a name has the form of a record's name; the record may not exist."""
    return _record(name) is not None and not name.endswith(SUFFIXES)


def _record(name: str) -> re.Match[str] | None:
    # Few names are records, so most need no pattern.
    return re.fullmatch(_RECORD, name, re.ASCII) if SEPARATOR in name else None


def folder_list(folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return the folders of a caller as texts.

    Raises:
        TypeError: a single folder is given instead of a list, or an item is not a path.
    """
    if isinstance(folders, (str, bytes, os.PathLike)) or not isinstance(folders, Iterable):
        raise TypeError(f"folders is {folders!r}: a list of folders, not one folder")
    named = tuple(folders)
    for folder in named:
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folders has {folder!r}: a path is a text or a Path")
    return tuple(map(joined, named))


@attrs.frozen
class Folders:
    """The folders where names are looked up. The shipped one is first, so that no file can hide a shipped name.

    Attributes:
        paths: the folders.
        moved: a folder, and the folder that absolute paths into it are read from instead.
        within: additional folders that are in use, where no name is looked up.
    """

    paths: tuple[str, ...]
    moved: tuple[str, str] | None = None
    within: tuple[str, ...] = ()

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> Folders:
        """Return the shipped folder followed by these.

        Raises:
            ProfileError: FILE-1, a folder can't be read.
            TypeError: a single folder is given instead of a list.
        """
        named = folder_list(folders)
        for folder in named:
            try:
                os.listdir(folder)  # the same access as later, but without reading files
            except OSError as error:
                hint = "name a folder that can be read"
                found = Finding.of_file(folder, "FILE-1", f"can't be read: {error.strerror}", hint)
                raise ProfileError([found]) from None
        return cls((shipped_folder(), *named))

    def names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the profiles in the folders; names in ``first`` come first, in their order."""
        found = {stem_of(file) for folder in self.paths for file in yaml_files(folder)}
        return (*(name for name in first if name in found), *sorted(found.difference(first)))

    def record_names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the records in the folders by runtime; names in ``first`` come first, in their order."""
        found: dict[str, set[str]] = {}
        for folder in self.paths:
            for runtime in _folders(joined(folder, RECORDS)):
                found.setdefault(os.path.basename(runtime), set()).update(map(stem_of, yaml_files(runtime)))
        return tuple(
            f"{runtime}{SEPARATOR}{name}"
            for runtime, names in sorted(found.items())
            for name in (*(name for name in first if name in names), *sorted(names.difference(first)))
        )

    def hidden(self) -> tuple[str, ...]:
        """Return the files that no name reaches, since a file of the same name comes earlier."""
        seen: set[str] = set()
        hidden = []
        for folder in self.paths:
            for file in yaml_files(folder):
                if stem_of(file) in seen:
                    hidden.append(file)
                seen.add(stem_of(file))
        return tuple(hidden)

    def find(self, name: str | os.PathLike[str], kind: str, near: str | None = None) -> str:
        """Return the file of a ``profile``, of a ``state`` (in a folder ``states``), or of a ``device`` model.

        Device models are in a folder ``devices``.

        A name is looked up in the folders and then next to ``near``, the file that contains the name. A path, which has
        a slash or a YAML suffix, is relative to the folder of ``near``. A profile ``runtime:name`` is a record in the
        folders.

        Raises:
            ProfileError: FILE-1 for a path; NAME-1 for a name, with the most similar name.
        """
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(f"the {kind} is {name!r}: a name, a path, or a {kind.capitalize()}")
        text = os.fspath(name)
        if not isinstance(name, str) or os.sep in text or "/" in text or text.endswith(SUFFIXES):
            return _existing(self._here(joined("" if near is None else folder_of(near), text)), kind)
        record = _record(text) if kind == "profile" else None
        if record is not None:
            return self._record(text, record["runtime"], record["name"])
        found = _first(self._looked_in(kind, near), text) if text else None
        if found is not None:
            return found
        known = dict.fromkeys(name for folder in self._looked_in(kind, near) for name in _some_names(folder))
        message = f"no {KIND_NAMES[kind]} {shortened(text)!r}"
        hint = did_you_mean(text, known) if os.path.isdir(shipped_folder()) else _NOT_INSTALLED
        if near is None and os.path.isdir(text):
            message = f"{message}: it {IS_A_FOLDER}"
            hint = hint if nearest(text, known) else "name a file in it"
        raise ProfileError([Finding.of_file(text, "NAME-1", message, hint)])

    def _looked_in(self, kind: str, near: str | None) -> Iterator[str]:
        """Yield the folders where a name is looked up."""
        for folder in self.paths:
            yield joined(folder, _FOLDER_OF.get(kind, ""))
        if near is None:
            return
        if kind == "state":
            yield joined(folder_of(near), "states")
        in_states = os.path.basename(os.path.dirname(os.path.abspath(near))) == "states"
        if in_states or kind == "profile":
            yield folder_of(near)

    def _record(self, text: str, runtime: str, name: str) -> str:
        """Return the file of a record.

        Raises:
            ProfileError: NAME-1, with the most similar name.
        """
        found = _first([joined(folder, RECORDS, runtime) for folder in self.paths], name)
        if found is not None:
            return found
        message = f"no record {shortened(text)!r} of a runtime's votes"
        raise ProfileError([Finding.of_file(text, "NAME-1", message, did_you_mean(text, self.record_names()))])

    def hold(self, file: str, top: str) -> bool:
        """Return whether a file is in a folder that is in use: these, or the folder of ``top``. Links are resolved."""
        if folder_of(file) in (*self.paths, folder_of(top)) and not os.path.islink(file):
            return True
        real = os.path.realpath(file)
        used = (os.path.realpath(folder) for folder in (*self.paths, *self.within, folder_of(top)))
        return any(real.startswith(os.path.join(folder, "")) for folder in used)

    def _here(self, path: str) -> str:
        """Return the path that a path is really read from."""
        if self.moved is None or not os.path.isabs(path):
            return path
        top, root = self.moved
        relative = path_below(path, top)
        return path if relative is None else joined(root, relative)


def _existing(path: str, kind: str) -> str:
    is_folder = os.path.isdir(path)
    if not is_folder and not _is_missing(path):
        return path  # reading it reports the problem
    message = IS_A_FOLDER if is_folder else "no such file"
    hint = "check the path" if path.endswith(SUFFIXES) else f"a {KIND_NAMES[kind]} file ends in .yaml"
    raise ProfileError([Finding.of_file(path, "FILE-1", message, hint)])


def _is_missing(path: str) -> bool:
    """Return whether nothing exists at a path; a path without access may exist."""
    try:
        os.lstat(path)
    except OSError as error:
        return not isinstance(error, PermissionError)
    except ValueError:
        return True
    return False


def _first(folders: Iterable[str], name: str) -> str | None:
    """Return the first file with a name in some folders."""
    for folder in folders:
        for suffix in SUFFIXES:
            file = joined(folder, f"{name}{suffix}")
            if os.path.lexists(file) and (not _IGNORES_CASE or _is_spelt_so(file)):
                return file
    return None


def _is_spelt_so(file: str) -> bool:
    """Return whether an existing file has this name in its folder, with the same case."""
    try:
        return os.path.basename(file) in os.listdir(os.path.dirname(file))
    except OSError:
        return True


def _some_names(folder: str) -> list[str]:
    """Return names of the YAML files directly in a folder; only some if it is very large, to save time."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in itertools.islice(entries, _MOST_NAMES)]
    except OSError:
        return []
    return sorted(name.rpartition(".")[0] for name in found if name.endswith(SUFFIXES) and not name.startswith("."))


def holds_all(folder: str, names: Iterable[str]) -> bool:
    """Return whether a folder has a file for each of some names; other files are ignored."""
    return all(_first((folder,), name) is not None for name in names)


def _folders(folder: str) -> list[str]:
    """Return the folders in a folder, without hidden ones; empty if it can't be read."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return [each for name in sorted(found) if not name.startswith(".") and os.path.isdir(each := joined(folder, name))]


def yaml_files(folder: str) -> list[str]:
    """Return the YAML files directly in a folder, sorted by name, without hidden ones; empty if it can't be read."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    names = (name for name in found if name.endswith(SUFFIXES) and not name.startswith("."))
    return [joined(folder, name) for name in sorted(names, key=os.path.normcase)]

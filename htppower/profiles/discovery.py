"""Where profile files are found."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import Finding, ProfileError, shortened
from htppower.profiles.did_you_mean import did_you_mean, nearest
from htppower.profiles.paths import folder_of, joined, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".yaml", ".yml")
IS_A_FOLDER = "is a folder"
# The folder, in one of profiles, with a folder for each runtime of which there are records.
RECORDS = "runtimes"
# The folder, in one of profiles, with device models.
DEVICES = "devices"
# The folder in which files of a kind live, within one of profiles, and what the kind is called.
_FOLDER_OF = {"state": "states", "device": DEVICES}
_WHAT = {"profile": "profile", "state": "power state", "device": "device model"}
_SEPARATOR = ":"
_NOT_INSTALLED = "the shipped profiles are no folder here: install or unpack htppower, which can't run from a zip file"
# So many names of a folder are looked at for the nearest one.
_MOST_NAMES = 200
# What a name for a record is made of. No part leads out of a folder, and a colon stands in no path.
_RECORD = r"(?P<runtime>\w[\w.-]*):(?P<name>\w[\w.-]*)"


@functools.cache
def shipped_folder() -> str:
    """Return the folder of the shipped profiles: inside an installed package, beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    installed = os.path.join(package, "shipped_profiles")
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(package), "profiles")


def shipped_problem() -> ProfileError | None:
    """Return the error of a package whose shipped profiles are no folder, as in a zip file; None where they are one."""
    folder = shipped_folder()
    if os.path.isdir(folder):
        return None
    return ProfileError([Finding.of_file(folder, "FILE-1", "is no folder", _NOT_INSTALLED)])


def shown_path(path: str) -> str:
    """Return a path as messages have it: a shipped file by its name, wherever it is installed."""
    shipped = f"{shipped_folder()}{os.sep}"
    return f"shipped {path.removeprefix(shipped)}" if path.startswith(shipped) else path


def runtime_of(file: str) -> str:
    """Return the runtime of which a file is a record, or a power state of one; empty for every other file."""
    above, name = os.path.split(os.path.dirname(os.path.abspath(file)))  # links stay as they are
    if name == "states":
        above, name = os.path.split(above)
    return name if os.path.basename(above) == RECORDS else ""


def above_records(folder: str) -> str | None:
    """Return the folder of profiles in which a folder of records is; None for every other folder."""
    runtimes = os.path.normpath(os.path.join(folder, os.pardir))
    named = os.path.basename(os.path.abspath(runtimes))
    return os.path.normpath(os.path.join(runtimes, os.pardir)) if named == RECORDS else None


def is_record(name: str) -> bool:
    """Return whether a name is that of a record of what a runtime votes, which may not exist."""
    return _record(name) is not None and not name.endswith(SUFFIXES)


def _record(name: str) -> re.Match[str] | None:
    # Most names are of no record, and need no pattern.
    return re.fullmatch(_RECORD, name, re.ASCII) if _SEPARATOR in name else None


def recorded_name(file: str, name: str) -> str:
    """Return the name by which a profile is loaded: that of a record has its runtime before it."""
    runtime = runtime_of(file)
    return f"{runtime}{_SEPARATOR}{name}" if runtime else name


def own_name(name: str) -> str:
    """Return the name of a profile as its file has it, without the runtime of a record."""
    return name.rpartition(_SEPARATOR)[2]


def folder_list(folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return folders that a caller names.

    Raises:
        TypeError: one folder is given where a list of them is needed, or something in it is no path.
    """
    if isinstance(folders, (str, bytes, os.PathLike)) or not isinstance(folders, Iterable):
        raise TypeError(f"folders is {folders!r}: a list of folders, not one folder")
    named = tuple(folders)
    for folder in named:
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folders has {folder!r}: a path is a text or a Path")
    return tuple(map(joined, named))


class Folders(NamedTuple):
    """The folders in which names are looked up, the shipped one first, so that no file can shadow a shipped name.

    Attributes:
        paths: the folders.
        moved: a folder, and where its files are read from instead, for absolute paths.
        within: more folders that are being used, in which no name is looked up.
    """

    paths: tuple[str, ...]
    moved: tuple[str, str] | None = None
    within: tuple[str, ...] = ()

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> Folders:
        """Return the shipped folder followed by these.

        Raises:
            ProfileError: FILE-1, a folder can't be read.
            TypeError: one folder is given where a list of them is needed.
        """
        named = folder_list(folders)
        for folder in named:
            try:
                os.listdir(folder)  # as it is read later, without its files
            except OSError as error:
                hint = "name a folder that can be read"
                found = Finding.of_file(folder, "FILE-1", f"can't be read: {error.strerror}", hint)
                raise ProfileError([found]) from None
        return cls((shipped_folder(), *named))

    def names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the profiles in the folders, those in ``first`` first and in their order."""
        found = {stem_of(file) for folder in self.paths for file in yaml_files(folder)}
        return (*(name for name in first if name in found), *sorted(found.difference(first)))

    def record_names(self, first: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the records in the folders, by runtime, those in ``first`` first and in their order."""
        found: dict[str, set[str]] = {}
        for folder in self.paths:
            for runtime in _folders(joined(folder, RECORDS)):
                found.setdefault(os.path.basename(runtime), set()).update(map(stem_of, yaml_files(runtime)))
        return tuple(
            f"{runtime}{_SEPARATOR}{name}"
            for runtime, names in sorted(found.items())
            for name in (*(name for name in first if name in names), *sorted(names.difference(first)))
        )

    def hidden(self) -> tuple[str, ...]:
        """Return the files that no name finds, since another file of the same name comes first."""
        seen: set[str] = set()
        hidden = []
        for folder in self.paths:
            for file in yaml_files(folder):
                if stem_of(file) in seen:
                    hidden.append(file)
                seen.add(stem_of(file))
        return tuple(hidden)

    def find(self, name: str | os.PathLike[str], kind: str, near: str | None = None) -> str:
        """Return the file of a ``profile``, of a ``state``, which lives in a folder ``states``, or of a ``device``.

        A device model lives in a folder ``devices``.

        A name is looked up in the folders and then beside ``near``, the file in which it stands; a path, which has a
        slash or a YAML suffix, is taken from beside ``near``. A profile ``runtime:name`` is a record in the folders.

        Raises:
            ProfileError: FILE-1 for a path, NAME-1 for a name, with the nearest.
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
        message = f"no {_WHAT[kind]} {shortened(text)!r}"
        hint = did_you_mean(text, known) if os.path.isdir(shipped_folder()) else _NOT_INSTALLED
        if near is None and os.path.isdir(text):
            message = f"{message}: it {IS_A_FOLDER}"
            hint = hint if nearest(text, known) else "name a file in it"
        raise ProfileError([Finding.of_file(text, "NAME-1", message, hint)])

    def _looked_in(self, kind: str, near: str | None) -> Iterator[str]:
        """Yield the folders in which a name is looked up."""
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
            ProfileError: NAME-1, with the nearest.
        """
        found = _first([joined(folder, RECORDS, runtime) for folder in self.paths], name)
        if found is not None:
            return found
        message = f"no record {shortened(text)!r} of what a runtime votes"
        raise ProfileError([Finding.of_file(text, "NAME-1", message, did_you_mean(text, self.record_names()))])

    def hold(self, file: str, top: str) -> bool:
        """Return whether a file lies in a folder that is being used: these, or that of ``top``. Links are followed."""
        if folder_of(file) in (*self.paths, folder_of(top)) and not os.path.islink(file):
            return True
        real = os.path.realpath(file)
        used = (os.path.realpath(folder) for folder in (*self.paths, *self.within, folder_of(top)))
        return any(real.startswith(os.path.join(folder, "")) for folder in used)

    def _here(self, path: str) -> str:
        """Return where a path is read from."""
        if self.moved is None or not os.path.isabs(path):
            return path
        top, root = self.moved
        relative = os.path.relpath(path, top)
        return path if relative.startswith(os.pardir) else joined(root, relative)


def _existing(path: str, kind: str) -> str:
    is_folder = os.path.isdir(path)
    if not is_folder and not _is_missing(path):
        return path  # reading it says what is wrong with it
    message = IS_A_FOLDER if is_folder else "no such file"
    hint = "check the path" if path.endswith(SUFFIXES) else f"a {_WHAT[kind]} file ends in .yaml"
    raise ProfileError([Finding.of_file(path, "FILE-1", message, hint)])


def _is_missing(path: str) -> bool:
    """Return whether there is nothing of a name; what may not be looked at may be there."""
    try:
        os.lstat(path)
    except OSError as error:
        return not isinstance(error, PermissionError)
    except ValueError:
        return True
    return False


def _first(folders: Iterable[str], name: str) -> str | None:
    """Return the first file of a name in some folders."""
    for folder in folders:
        for suffix in SUFFIXES:
            file = joined(folder, f"{name}{suffix}")
            if os.path.lexists(file):
                return file
    return None


def _some_names(folder: str) -> list[str]:
    """Return the names of the YAML files directly in a folder: of a very large one some, in no time."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in itertools.islice(entries, _MOST_NAMES)]
    except OSError:
        return []
    return sorted(name.rpartition(".")[0] for name in found if name.endswith(SUFFIXES) and not name.startswith("."))


def holds_all(folder: str, names: Iterable[str]) -> bool:
    """Return whether a folder has a file for each of some names. Its other files are not looked at."""
    return all(_first((folder,), name) is not None for name in names)


def _folders(folder: str) -> list[str]:
    """Return the folders in a folder, without hidden ones; none where it can't be read."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return [each for name in sorted(found) if not name.startswith(".") and os.path.isdir(each := joined(folder, name))]


def yaml_files(folder: str) -> list[str]:
    """Return the YAML files directly in a folder, by name, without hidden ones; none where it can't be read."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    names = (name for name in found if name.endswith(SUFFIXES) and not name.startswith("."))
    return [joined(folder, name) for name in sorted(names, key=os.path.normcase)]

"""The variables that a host needs, so that htppower finds the library, the loader its parts, and FastRPC the skels."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.binaries import machine_of
from htppower.backends.qnn.library import VARIABLE, find_library, load_library
from htppower.backends.qnn.skels import SEPARATOR, SKEL_VARIABLES, folders_first
from htppower.errors import BackendUnavailable, Unavailable
from htppower.tools.environment.skel_folders import skel_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

LOADER_VARIABLE = "LD_LIBRARY_PATH"
_LOADER_SEPARATOR = ":"
# The loader searches these folders without a variable. On Android, other programs fail if LD_LIBRARY_PATH names one
# of them (https://github.com/ggml-org/llama.cpp/issues/27677).
_OF_THE_SYSTEM = re.compile(r"(/usr)?/lib(32|64|/[^/]+-linux-[^/]+)?|/(vendor|system|odm|product)/lib(64)?")


@attrs.frozen
class Variables:
    """The variables of a host.

    Attributes:
        values: the value of each, by name.
        notes: what is left out, and why.
    """

    values: dict[str, str]
    notes: tuple[str, ...] = ()


def needed_variables(library: str | None, arch: int | None, environment: Mapping[str, str], *, keep: bool) -> Variables:
    """Return the variables for a library.

    Args:
        library: the library's file; None searches for the library.
        arch: the Hexagon architecture; None takes the skels of all.
        environment: the variables of this process.
        keep: whether the folders that the variables have now follow the needed ones.

    Raises:
        BackendUnavailable: there is no library or no skel, or the folder of either can't be in a variable.
    """
    file = _file(library)
    folder = str(Path(os.path.realpath(file)).parent)
    before = environment if keep else {}
    values = {VARIABLE: file}
    if not file.lower().endswith(".dll") and not _OF_THE_SYSTEM.fullmatch(folder):
        values[LOADER_VARIABLE] = _folders_first(folder, before.get(LOADER_VARIABLE, ""))
    if machine_of(Path(file)) == "x86_64":
        return Variables(values, (f"{file} is for x86-64: it has no Hexagon, and needs no skel",))
    skels = skel_folders(file, arch, environment)
    for each in skels:
        _refuse(each, SEPARATOR, SKEL_VARIABLES[0])
    values |= {name: folders_first(skels, before.get(name, "")) for name in SKEL_VARIABLES}
    return Variables(values)


def _file(library: str | None) -> str:
    """Return the library's file, not loaded if any place but the system's loader has it."""
    found = find_library(library)
    file = load_library().path if found.path is None else str(found.path)
    if not (Path(file).is_absolute() and Path(file).is_file()):
        message = f"the system's loader finds {file}, but does not say where"
        raise BackendUnavailable(Unavailable.NOT_FOUND, message, hint="name its file by --library", tried=found.tried)
    return file


def _folders_first(folder: str, value: str) -> str:
    # The loader takes an empty entry for the current directory.
    _refuse(folder, _LOADER_SEPARATOR, LOADER_VARIABLE)
    _refuse(folder, SEPARATOR, LOADER_VARIABLE)
    return _LOADER_SEPARATOR.join(dict.fromkeys((folder, *filter(None, value.split(_LOADER_SEPARATOR)))))


def _refuse(folder: str, separator: str, name: str) -> None:
    if separator in folder:
        message = f"{name} can't have the folder {folder}: {separator!r} separates folders"
        raise BackendUnavailable(Unavailable.NOT_FOUND, message, hint="move the files to another folder")

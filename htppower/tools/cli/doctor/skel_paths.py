"""Checks the variables whose folders FastRPC searches for the skel: faults, and the line that mends them.

Source: apps_std of https://github.com/qualcomm/fastrpc, which separates the folders by ``;`` on every system.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLES = ("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH")
_SEPARATOR = ";"
# The SDK keeps the skels in these folders, relative to the library.
_BESIDE = ("", "../hexagon-v{arch}/unsigned", "../../hexagon-v{arch}/unsigned")
_NEEDS_QUOTES = frozenset('"$`\\')


@attrs.frozen
class SkelPaths:
    """The faults of the variables, in sentences, and the lines to type in a shell; both are empty if all is well."""

    faults: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def judged(environment: Mapping[str, str], arch: int | None, library: str = "") -> SkelPaths:
    """Return the faults of the variables that are set.

    Args:
        environment: the variables of the process.
        arch: the Hexagon architecture whose skel is needed; None accepts any.
        library: the file of the library; a skel near it is named in the line.
    """
    values = {name: environment[name] for name in VARIABLES if name in environment}
    faults: list[str] = []
    folders: dict[str, list[str]] = {}
    wrong: list[str] = []
    for name, value in values.items():
        parts = [part for entry in value.split(_SEPARATOR) for part in _parts(entry)]
        found = list(_faults(name, value, parts))
        faults += found
        if found:
            wrong.append(name)
        folders[name] = [os.path.abspath(part) for part in parts if os.path.isdir(part)]
    skel = f"libQnnHtpV{arch or '*'}Skel.so"
    if values and not any(_has(folder, skel) for each in folders.values() for folder in each):
        faults.append(f"{skel} is in no folder of {' or '.join(values)}")
        first = next(iter(values))
        wrong = [first, *(name for name in wrong if name != first)]
        folders[first] = [_near(library, arch, skel), *folders[first]]
    return SkelPaths(tuple(faults), tuple(_line(name, folders[name]) for name in wrong))


def _parts(entry: str) -> list[str]:
    """Return the folders of an entry: several if ``:`` separates them."""
    several = ":" in entry and os.name != "nt" and not os.path.isdir(entry)
    return [part for part in (entry.split(":") if several else [entry]) if part]


def _faults(name: str, value: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield f"{name} is empty"
    if not set(parts) <= set(value.split(_SEPARATOR)):
        yield f"{name} has ':' between folders: FastRPC separates folders by ';', and reads all of it as one folder"
    for part in parts:
        if not os.path.isabs(part):
            yield f"{name} has the relative folder {part}, which depends on where the process starts"
        if not os.path.isdir(part):
            yield f"{name} has {part}, which is not a folder here"


def _has(folder: str, skel: str) -> bool:
    try:
        return next(Path(folder).glob(skel), None) is not None
    except OSError:
        return False


def _near(library: str, arch: int | None, skel: str) -> str:
    """Return the folder of a skel near the library, or a placeholder for it."""
    home = os.path.dirname(os.path.realpath(library)) if os.path.isfile(library) else ""
    near = (os.path.normpath(os.path.join(home, each.format(arch=arch))) for each in (_BESIDE if home else ()))
    return next((folder for folder in near if _has(folder, skel)), "/FOLDER/OF/THE/SKEL")


def _line(name: str, folders: list[str]) -> str:
    if not folders:
        return f"Remove-Item Env:{name}" if os.name == "nt" else f"unset {name}"
    value = _SEPARATOR.join(dict.fromkeys(folders))
    quoted = shlex.quote(value) if _NEEDS_QUOTES & set(value) and os.name != "nt" else f'"{value}"'
    return f"$env:{name} = {quoted}" if os.name == "nt" else f"export {name}={quoted}"

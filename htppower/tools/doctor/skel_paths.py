"""The variables whose folders FastRPC searches for the skel: their faults, and the lines that mend them.

Source: apps_std of https://github.com/qualcomm/fastrpc, which separates the folders by ``;`` on every system, and does
not read ADSP_LIBRARY_PATH if DSP_LIBRARY_PATH is set.
"""

from __future__ import annotations

import mmap
import os
import re
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.skels import SEPARATOR, SKEL_VARIABLES, skel_name
from htppower.tools.environment.lines import powershell_line, sh_line
from htppower.tools.environment.skel_folders import SYSTEM_FOLDERS, folders_near, has_skel, skels_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACEHOLDER = "C:\\FOLDER\\OF\\THE\\SKEL" if os.name == "nt" else "/FOLDER/OF/THE/SKEL"
_RELEASE = re.compile(rb"AISW_VERSION: (\d+\.\d+\.\d+)|\0v(\d+\.\d+\.\d+)\.\d{12}")


@attrs.frozen
class SkelPaths:
    """The faults of the variables, in sentences, and the lines to type in a shell; both are empty if all is well."""

    faults: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def judged_skel_paths(environment: Mapping[str, str], arch: int | None, library: str = "") -> SkelPaths:
    """Return the faults of the variables that are set.

    Args:
        environment: the variables of the process.
        arch: the Hexagon architecture whose skel is needed; None accepts any.
        library: the file of the library; a skel near it is named in the line.
    """
    values = {name: environment[name] for name in SKEL_VARIABLES if name in environment}
    faults: list[str] = []
    folders: dict[str, list[str]] = {}
    wrong: list[str] = []
    for name, value in values.items():
        parts = _all_parts(value)
        found = list(_faults(name, value, parts))
        faults += found
        if found:
            wrong.append(name)
        folders[name] = [os.path.abspath(part) for part in parts if os.path.isdir(part)]
    if not values:
        return SkelPaths()
    read = _read_by_fastrpc(values)
    skel = skel_name(arch)
    # Some versions also read CDSP_LIBRARY_PATH. FastRPC's own folders come after those of the variables.
    searched = (*folders.get(read, ()), *folders.get(SKEL_VARIABLES[1], ()), *SYSTEM_FOLDERS)
    having = [folder for folder in searched if has_skel(folder, skel)]
    other = _other_release(having[0], skel, library) if having else ""
    if not having:
        unread = SKEL_VARIABLES[0] if any(has_skel(each, skel) for each in folders.get(SKEL_VARIABLES[0], ())) else ""
        instead = f"; {unread} has it, but FastRPC does not read that while {read} is set" if unread else ""
        faults.append(f"{skel} is in no folder of {read if unread else ' or '.join(values)}{instead}")
    elif other:
        faults.append(f"{read} leads to {skel} of {other}, but the library is of {release_of(library)}")
    if other or not having:
        wrong = [read, *(name for name in wrong if name != read)]
        folders[read] = [_near(library, arch), *folders.get(read, ())]
    return SkelPaths(tuple(faults), tuple(_line(name, folders[name]) for name in wrong))


def _read_by_fastrpc(environment: Mapping[str, str]) -> str:
    """Return the variable that FastRPC reads: DSP_LIBRARY_PATH if it is set, else ADSP_LIBRARY_PATH."""
    adsp, _, dsp = SKEL_VARIABLES
    return dsp if environment.get(dsp) else adsp


def line_with_skel_first(environment: Mapping[str, str], arch: int | None, library: str) -> str:
    """Return the line that puts the folder of the skel near the library, or a placeholder, first."""
    name = _read_by_fastrpc(environment)
    folders = [os.path.abspath(part) for part in _all_parts(environment.get(name, "")) if os.path.isdir(part)]
    return _line(name, [_near(library, arch), *folders])


def release_of(path: str) -> str:
    """Return the release that a library or a skel states in its file, such as ``2.51.0``; empty if it states none."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = _RELEASE.search(content)
            return "" if found is None else (found[1] or found[2]).decode()
    except (OSError, ValueError):  # ValueError: the file is empty
        return ""


def _other_release(folder: str, skel: str, library: str) -> str:
    """Return the release of the skel in a folder if it is another one than the library's; else an empty text."""
    found = next(skels_in(folder, skel), None)
    releases = "" if found is None else release_of(str(found)), release_of(library)
    return releases[0] if all(releases) and releases[0] != releases[1] else ""


def _all_parts(value: str) -> list[str]:
    return [part for entry in value.split(SEPARATOR) for part in _parts(entry)]


def _parts(entry: str) -> list[str]:
    """Return the folders of an entry: several if ``:`` separates them."""
    several = ":" in entry and os.name != "nt" and not os.path.isdir(entry)
    return [part for part in (entry.split(":") if several else [entry]) if part]


def _faults(name: str, value: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield f"{name} is empty"
    if not set(parts) <= set(value.split(SEPARATOR)):
        yield f"{name} has ':' between folders: FastRPC separates folders by ';', and reads all of it as one folder"
    for part in parts:
        if not os.path.isabs(part):
            yield f"{name} has the relative folder {part}, which depends on where the process starts"
        if not os.path.isdir(part):
            yield f"{name} has {part}, which is not a folder here"


def _near(library: str, arch: int | None) -> str:
    """Return the folder of a skel near the library, or a placeholder for it."""
    near = folders_near(library, arch) if os.path.isfile(library) else ()
    return next((folder for folder in near if has_skel(folder, skel_name(arch))), PLACEHOLDER)


def _line(name: str, folders: list[str]) -> str:
    if not folders:
        return f"Remove-Item Env:{name}" if os.name == "nt" else f"unset {name}"
    value = SEPARATOR.join(dict.fromkeys(folders))
    return powershell_line(name, value) if os.name == "nt" else sh_line(name, value)

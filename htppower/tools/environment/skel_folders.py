"""The folders that have the skels of a library: near the library, in the variables, or in the system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.qnn.skels import SEPARATOR, SKEL_VARIABLES, skel_name
from htppower.errors import BackendUnavailable, Step, Unavailable
from htppower.rules.platforms import find_soc
from htppower.rules.soc_names import by_kernel_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The SDK and the wheel keep the skels in these folders, relative to the library.
_NEAR = (".", "../hexagon-v{arch}/unsigned", "../../hexagon-v{arch}/unsigned")
# Where FastRPC searches without a variable. Source: DEFAULT_DSP_SEARCH_PATHS of https://github.com/qualcomm/fastrpc.
# Nothing is known of Windows.
SYSTEM_FOLDERS: tuple[str, ...] = (
    ("/usr/lib/rfsa/adsp", "/usr/lib/dsp", "/vendor/lib/rfsa/adsp", "/vendor/dsp") if os.name == "posix" else ()
)
# The kernel's number of the chip; the library reads the same files.
SOC_IDS = ("/sys/devices/soc0/soc_id", "/sys/devices/system/soc/soc0/id")


def architecture(soc_model: str | None) -> int | None:
    """Return the Hexagon architecture of the named SoC, or of this chip; None if this chip is not known.

    Raises:
        UnknownPlatform: the name is not in the tables.
    """
    if soc_model is not None:
        return find_soc(soc_model).arch
    for place in SOC_IDS:
        try:
            soc = by_kernel_number(int(Path(place).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
        return None if soc is None else soc.arch
    return None


def skel_folders(library: str, arch: int | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders with skels for a library, from the first kind of place that has some.

    Args:
        library: the library's file. Skels of its release are near it.
        arch: the Hexagon architecture whose skel is needed; None accepts any, and may give several folders.
        environment: the variables, whose folders are searched after those near the library.

    Raises:
        BackendUnavailable: no place has such a skel; with the places.
    """
    skel = skel_name(arch)
    tried: list[Step] = []
    for origin, folders in _places(library, arch, environment):
        found = [folder for folder in folders if has_skel(folder, skel)]
        if found:
            return tuple(dict.fromkeys(found))
        tried += [Step(origin, folder, f"no {skel}") for folder in folders]
    hint = "copy the skel of the same release next to the library, or name the library of an SDK or wheel that has it"
    raise BackendUnavailable(Unavailable.SKEL_NOT_FOUND, f"no {skel} for {library}", hint=hint, tried=tried)


def has_skel(folder: str, skel: str) -> bool:
    """Return whether a folder leads FastRPC to a skel of this name or pattern."""
    try:
        return next(skels_in(folder, skel), None) is not None
    except OSError:
        return False


def skels_in(folder: str, skel: str) -> Iterator[Path]:
    """Yield the skels to which a folder leads FastRPC: it looks into the folder's own ``cdsp`` first."""
    for each in (Path(folder, "cdsp"), Path(folder)):
        yield from sorted(each.glob(skel))


def folders_near(library: str, arch: int | None) -> list[str]:
    """Return the folders near a library that may have its skel; None stands for every architecture."""
    home = Path(os.path.realpath(library)).parent
    patterns = [os.path.normpath(home / near.format(arch="*" if arch is None else arch)) for near in _NEAR]
    return list(dict.fromkeys(folder for pattern in patterns for folder in _matching(pattern)))


def _places(library: str, arch: int | None, environment: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each kind of place with its folders."""
    yield "near the library", folders_near(library, arch)
    for name in SKEL_VARIABLES:
        yield name, [folder for folder in environment.get(name, "").split(SEPARATOR) if Path(folder).is_absolute()]
    yield "the system", list(SYSTEM_FOLDERS)


def _matching(pattern: str) -> list[str]:
    """Return the folders ``.../hexagon-v*/unsigned``, oldest architecture first; without a star the folder itself."""
    head, star, tail = pattern.partition("hexagon-v*")
    if not star:
        return [pattern]
    found = Path(head).glob(f"{star}{tail}")
    return sorted(map(str, found), key=lambda folder: (len(folder), folder)) or [pattern]

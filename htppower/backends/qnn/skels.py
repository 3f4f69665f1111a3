"""The variables that lead FastRPC to the skels, and the skels of the installed package for the library."""

from __future__ import annotations

import os
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.qnn import loaded
from htppower.backends.qnn.library import installed_in, library_name
from htppower.errors import BackendUnavailable, Step, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

# FastRPC searches the folders of ADSP_LIBRARY_PATH, or of DSP_LIBRARY_PATH if that is set; some versions search those
# of CDSP_LIBRARY_PATH. Source: apps_std of https://github.com/qualcomm/fastrpc, and reports of its users. So all three
# name the folder.
SKEL_VARIABLES = ("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH")
SEPARATOR = ";"
WHEEL = "onnxruntime-qnn"
_OR_SET = f"or set {SKEL_VARIABLES[0]} to the folder of the skels"


def skel_name(arch: int | None) -> str:
    """Return the file name of the skel of a Hexagon architecture; None gives a pattern for all of them."""
    return f"libQnnHtpV{'*' if arch is None else arch}Skel.so"


def folders_first(folders: Iterable[str], value: str = "") -> str:
    """Return the value of a variable with these folders first, then the folders that it had, each once."""
    return SEPARATOR.join(dict.fromkeys((*folders, *filter(None, value.split(SEPARATOR)))))


def use_wheel_skels() -> dict[str, str]:
    """Lead FastRPC to the skels of the installed package ``onnxruntime-qnn``, for this process and its children.

    Call it before ONNX Runtime, htppower or anything else loads the vendor's library: FastRPC reads the variables when
    the device is opened, and all users of the library in a process share one device. The folder of the skels becomes
    the first in ``ADSP_LIBRARY_PATH``, ``CDSP_LIBRARY_PATH`` and ``DSP_LIBRARY_PATH``; the folders that were there
    follow it. The package is not imported. To undo it, set the variables in ``os.environ`` to their earlier values,
    before the library is loaded.

    Returns:
        the three variables and their values.

    Raises:
        BackendUnavailable: SKEL_NOT_FOUND: the package is not installed, or its wheel has no skels, as the one for
            x86-64 Linux. ALREADY_LOADED: the process has loaded the library, and the variables differ.
    """
    folder = _folder_of_wheel()
    values = {name: folders_first([folder], os.environ.get(name, "")) for name in SKEL_VARIABLES}
    if all(os.environ.get(name) == value for name, value in values.items()):
        return values
    if copies := loaded.copies(library_name()):
        message = f"too late to set {SKEL_VARIABLES[0]}: this process has loaded {copies[0].path}"
        hint = "call use_wheel_skels() before ONNX Runtime or a controller loads the library"
        raise BackendUnavailable(Unavailable.ALREADY_LOADED, message, hint=hint)
    os.environ.update(values)
    return values


def _folder_of_wheel() -> str:
    """Return the folder of the skels in the installed wheel; the first by name if several have some."""
    searched = installed_in()
    found = next(iter(distributions(name=WHEEL, path=searched)), None)
    if found is None:
        tried = [Step(WHEEL, entry, "not installed") for entry in searched]
        raise _no_skel(f"the package {WHEEL} is not installed", f"pip install {WHEEL}, {_OR_SET}", tried)
    files = (Path(str(file.locate())) for file in found.files or () if file.match(skel_name(None)))
    folders = sorted({str(file.parent.absolute()) for file in files if file.is_file()})
    if not folders:
        message = f"{WHEEL} {found.version} in {found.locate_file('')} has no skels"
        raise _no_skel(message, f"install its wheel for ARM64 on a device, {_OR_SET}")
    return folders[0]


def _no_skel(message: str, hint: str, tried: Iterable[Step] = ()) -> BackendUnavailable:
    return BackendUnavailable(Unavailable.SKEL_NOT_FOUND, message, hint=hint, tried=tried)

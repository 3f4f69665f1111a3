"""Where the vendor's library is found, and how it is loaded. The current directory is never searched."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.errors import BackendUnavailable, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

GIVEN = "the path given"
VARIABLE = "HTPPOWER_QNN_LIBRARY"
SDK_VARIABLES = ("QNN_SDK_ROOT", "QAIRT_SDK_ROOT")
PACKAGE = "onnxruntime_qnn"

# The folders of the SDK that hold the library for a system and machine, first choice first.
_TARGETS = {
    ("android", "aarch64"): ("aarch64-android",),
    ("linux", "aarch64"): ("aarch64-oe-linux-gcc*", "aarch64-ubuntu-gcc*", "aarch64-*linux*"),
    ("linux", "x86_64"): ("x86_64-linux-clang",),
    ("windows", "aarch64"): ("aarch64-windows-msvc", "arm64x-windows-msvc"),
    ("windows", "x86_64"): ("x86_64-windows-msvc",),
    ("qnx", "aarch64"): ("aarch64-qnx*",),
}
# Where the package keeps the library: beside itself, and on Windows for x86-64 in a folder for the machine.
_PACKAGE_FOLDERS = ("", "libs/amd64")
_ELF_MACHINES = {3: "x86", 40: "arm", 62: "x86_64", 164: "hexagon", 183: "aarch64"}
_PE_MACHINES = {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64"}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "arm64_v8a": "aarch64"}


@attrs.frozen
class Library:
    """A loaded library.

    Attributes:
        handle: for ctypes.
        path: the file, or the bare name where the system's loader found it.
        origin: which step of the search chose it.
        tried: every step up to that one, each with what came of it.
    """

    handle: ctypes.CDLL = attrs.field(repr=False)
    path: str
    origin: str
    tried: tuple[str, ...]


def operating_system() -> str:
    """Return what this process runs on: android, linux, windows or qnx."""
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "android" or hasattr(sys, "getandroidapilevel") or "ANDROID_ROOT" in os.environ:
        return "android"
    return "qnx" if sys.platform.startswith(("qnx", "nto")) else "linux"


def machine() -> str:
    """Return what this process is built for, such as ``aarch64``: what its own executable says, and not the system."""
    with contextlib.suppress(OSError):
        if (built_for := machine_of(Path(sys.executable or ""))) is not None:
            return built_for
    name = sysconfig.get_platform().lower().rpartition("-")[2]
    return _MACHINES.get(name, name)


def library_name() -> str:
    """Return the name of the library's file."""
    return "QnnHtp.dll" if operating_system() == "windows" else "libQnnHtp.so"


def load_library(given: str | os.PathLike[str] | None = None) -> Library:
    """Find and load the library: the path given, the variable, the SDK, the package, the system's loader.

    A library that is named, by path or by variable, is not replaced by another.

    Raises:
        BackendUnavailable: not found, not loadable, or built for another machine; the message says what was tried.
    """
    tried: list[str] = []
    for origin, path in _candidates(given):
        missing = _what_is_missing(path)
        if not missing:
            return Library(_load(path, origin, tried), str(path), origin, (*tried, f"{origin}: {path}: loaded"))
        tried.append(f"{origin}: {path}: {missing}")
        if origin in (GIVEN, VARIABLE):
            raise _not_found(str(path), tried)
    return _ask_the_system(tried)


def _what_is_missing(path: Path) -> str:
    """Return why a path can't be the library, empty where it can."""
    if not path.is_absolute():
        return "not an absolute path"
    try:
        if not path.is_file():
            return "no such file"
    except OSError as error:
        return str(error.strerror).lower()
    return "" if os.access(path, os.R_OK) else "permission denied"


def _candidates(given: str | os.PathLike[str] | None) -> Iterator[tuple[str, Path]]:
    name = library_name()
    if given is not None:
        yield GIVEN, Path(given).absolute()
    elif os.environ.get(VARIABLE):
        yield VARIABLE, Path(os.environ[VARIABLE])
    for variable in SDK_VARIABLES:
        root = os.environ.get(variable)
        if root and not Path(root).is_absolute():
            yield variable, Path(root)
        elif root:
            for target in _TARGETS.get((operating_system(), machine()), ()):
                found = sorted(Path(root, "lib").glob(f"{target}/{name}"), key=_newest_first)
                yield from ((variable, path) for path in found or [Path(root, "lib", target, name)])
    for folder in _package_folders():
        yield PACKAGE, folder / name


def _newest_first(path: Path) -> list[int]:
    """Sort the folders of several compilers by version: ``gcc11.2`` before ``gcc9.3``."""
    return [-int(number) for number in re.findall(r"\d+", path.parent.name)]


def _package_folders() -> list[Path]:
    """Return where the installed package may keep the library; a package in the current directory is not installed."""
    installed = [entry for entry in sys.path if Path(entry).is_absolute() and not _is_here(entry)]
    spec = PathFinder.find_spec(PACKAGE, installed)
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    folders = _PACKAGE_FOLDERS if operating_system() == "windows" else ("",)
    return [Path(place, folder) for place in places for folder in folders]


def _is_here(folder: str) -> bool:
    """Whether this is the current directory, under whatever name."""
    try:
        return Path(folder).samefile(os.curdir)
    except OSError:
        return False


def _ask_the_system(tried: list[str]) -> Library:
    origin, name = "the system's loader", library_name()
    search_path = os.environ.get("LD_LIBRARY_PATH", "")
    if (
        search_path
        and operating_system() != "windows"
        and any(not entry.startswith(("/", "$ORIGIN", "${ORIGIN}")) for entry in re.split("[:;]", search_path))
    ):
        tried.append(f"{origin}: {name}: not asked, LD_LIBRARY_PATH has an empty or relative entry")
        raise _not_found(name, tried)
    try:
        return Library(ctypes.CDLL(name), name, origin, (*tried, f"{origin}: {name}: loaded"))
    except OSError as error:
        tried.append(f"{origin}: {name}: {error}")
        raise (_not_found(name, tried) if _is_absent(name, str(error)) else _not_loadable(name, error, tried)) from None


def _is_absent(name: str, words: str) -> bool:
    """Whether a loader's words say that the library is missing, and not something that it needs."""
    # As glibc and musl, Android, and Windows put it.
    missing = any(phrase in words for phrase in ("No such file", "not found", "ot find"))
    return missing and name in words and "needed by" not in words


def _load(path: Path, origin: str, tried: list[str]) -> ctypes.CDLL:
    built_for = machine_of(path)
    if built_for not in (None, machine()):
        tried.append(f"{origin}: {path}: built for {built_for}")
        message = f"{path} is built for {built_for}, and this process for {machine()}"
        hint = f"give the library for {machine()}"
        raise BackendUnavailable(Unavailable.WRONG_ARCHITECTURE, message, hint=hint, tried=tried)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        tried.append(f"{origin}: {path}: {error}")
        raise _not_loadable(str(path), error, tried) from None


def machine_of(path: Path) -> str | None:
    """Return what machine an ELF or PE file is built for, None where the file does not say."""
    with path.open("rb") as file:
        head = file.read(64)
        if head[:4] == b"\x7fELF" and len(head) == 64:  # noqa: PLR2004 - the size of the header
            (number,) = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)
            return _ELF_MACHINES.get(number, f"ELF machine {number}")
        if head[:2] == b"MZ" and len(head) == 64:  # noqa: PLR2004 - as above
            file.seek(struct.unpack_from("<I", head, 60)[0])
            signature = file.read(6)
            if signature[:4] == b"PE\0\0" and len(signature) == 6:  # noqa: PLR2004 - signature and machine
                (number,) = struct.unpack_from("<H", signature, 4)
                return _PE_MACHINES.get(number, f"PE machine {number:#x}")
    return None


def _not_found(what: str, tried: list[str]) -> BackendUnavailable:
    # There is no wheel for the others.
    or_install = ", or pip install onnxruntime-qnn" if operating_system() in ("linux", "windows") else ""
    hint = f"set {VARIABLE} to its absolute path{or_install}"
    return BackendUnavailable(Unavailable.NOT_FOUND, f"no {what} was found", hint=hint, tried=tried)


def _not_loadable(what: str, error: OSError, tried: list[str]) -> BackendUnavailable:
    hint = "install what it needs beside it, or name another library"
    return BackendUnavailable(Unavailable.NOT_LOADABLE, f"{what} can't be loaded: {error}", hint=hint, tried=tried)

"""The search for the vendor's library, and its loading. The current directory is never searched."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn import loaded
from htppower.backends.qnn.binaries import ARM64X, LOADED_BY, PE_MACHINES, machine_of
from htppower.backends.qnn.loaded import ALREADY, LOADED
from htppower.errors import BackendUnavailable, Step, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

GIVEN = "the path given"
SYSTEM = "the system's loader"
VARIABLE = "HTPPOWER_QNN_LIBRARY"
SDK_VARIABLES = ("QNN_SDK_ROOT", "QAIRT_SDK_ROOT")
PACKAGE = "onnxruntime_qnn"
# The hints if the user named a library that is not there.
_CORRECT = {
    GIVEN: "correct the path, or omit it to search for the library",
    VARIABLE: f"set {VARIABLE} to the absolute path of the file, or unset it to search for the library",
}

# What to do to use the loaded copy instead.
_LOADED_INSTEAD = {GIVEN: "omit the path", VARIABLE: f"unset {VARIABLE}"}

# GCC's runtime. The library's wheel for Linux contains another unwinder of C++ exceptions, LLVM's. If LLVM's is loaded
# before GCC's, the next exception of any library in the process is a segmentation fault (measured, 2.7.0).
UNWINDER = "libgcc_s.so.1"

# The folders of the SDK that hold the library for a system and machine, best first.
_TARGETS = {
    ("android", "aarch64"): ("aarch64-android",),
    ("linux", "aarch64"): ("aarch64-oe-linux-gcc*", "aarch64-ubuntu-gcc*", "aarch64-*linux*"),
    ("linux", "x86_64"): ("x86_64-linux-clang",),
    ("windows", "aarch64"): ("aarch64-windows-msvc", "arm64x-windows-msvc"),
    ("windows", "x86_64"): ("x86_64-windows-msvc",),
    ("qnx", "aarch64"): ("aarch64-qnx*",),
}
# The folders of the package for the library: its own folder, and before that on Windows for x86-64 subfolders, by the
# machine of the system. An x86-64 process on a Snapdragon takes the library for both kinds of process.
_PACKAGE_FOLDERS = {"x86_64": ("libs/amd64", ""), "aarch64": ("libs/arm64ec", "libs/amd64", "")}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "arm64_v8a": "aarch64"}


@attrs.frozen
class Library:
    """A loaded library.

    Attributes:
        handle: the library for ctypes.
        path: the file; its bare name if the system's loader found it and does not report the file.
        origin: the step of the search that found it.
        tried: the steps of the search up to that step.
        loaded_here: whether this process had not loaded it before.
    """

    handle: ctypes.CDLL = attrs.field(repr=False)
    path: str
    origin: str
    tried: tuple[Step, ...]
    loaded_here: bool = False

    @property
    def number(self) -> int:
        """The number of the library in this process; equal for all paths, since the loader loads a file only once."""
        return self.handle._handle  # noqa: SLF001 - ctypes has no public name for it


def operating_system() -> str:
    """Return the system of this process: android, linux, windows or qnx."""
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "android" or hasattr(sys, "getandroidapilevel") or "ANDROID_ROOT" in os.environ:
        return "android"
    return "qnx" if sys.platform.startswith(("qnx", "nto")) else "linux"


def machine() -> str:
    """Return the machine that this process is built for, such as ``aarch64``: its executable's, not the system's."""
    with contextlib.suppress(OSError):
        if (built_for := machine_of(Path(sys.executable or ""))) is not None:
            return built_for
    name = sysconfig.get_platform().lower().rpartition("-")[2]
    return _MACHINES.get(name, name)


def system_machine() -> str:
    """Return the machine of the system: on a Snapdragon with Windows ``aarch64``, also in a process for x86-64."""
    if sys.platform == "win32":
        process, native = ctypes.c_uint16(), ctypes.c_uint16()
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        this = ctypes.c_void_p(kernel.GetCurrentProcess())
        # Windows 10 has this function from version 1709 on.
        if hasattr(kernel, "IsWow64Process2") and kernel.IsWow64Process2(
            this, ctypes.byref(process), ctypes.byref(native)
        ):
            return PE_MACHINES.get(native.value, machine())
    return machine()


def moves_clocks(path: str) -> bool:
    """Return whether a loaded library is for a Hexagon: the library for x86-64 answers alike, but moves no clock."""
    built_for = None
    with contextlib.suppress(OSError):
        built_for = machine_of(Path(path))
    return (built_for or machine()) in ("aarch64", ARM64X)


def library_name() -> str:
    """Return the name of the library's file."""
    return "QnnHtp.dll" if operating_system() == "windows" else "libQnnHtp.so"


@attrs.frozen
class Found:
    """A library's file that the search found, not loaded.

    Attributes:
        path: the file; None if no place has it that can be searched without the system's loader.
        origin: the step of the search that found it.
        tried: the steps before that step.
    """

    path: Path | None
    origin: str
    tried: tuple[Step, ...]


def load_library(
    given: str | os.PathLike[str] | None = None, *, second_copy: bool = False, idle: frozenset[int] = frozenset()
) -> Library:
    """Find and load the library: the loaded copy, the given path, the variable, the SDK, the package, the loader.

    If the library is named, by path or by variable, no other library is used instead.

    Args:
        given: the path of the library.
        second_copy: load the library that the search finds, although the process has loaded another copy.
        idle: the numbers of copies that only htppower has loaded, and does not use any more.

    Raises:
        BackendUnavailable: it was not found, can't be loaded, is built for another machine, or is named and not the
            copy that is loaded; with the steps.
    """
    copies = () if second_copy else loaded.usable(library_name(), idle)
    named = given is not None or bool(os.environ.get(VARIABLE))
    if copies and not named:
        searched = (*(str(path) for _, path in _candidates(None)), library_name())
        handle, tried = loaded.take_first_found(copies, searched)
        return Library(handle, tried[-1].path, ALREADY, tried)
    _load_unwinder()
    found = find_library(given)
    steps = list(found.tried)
    if found.path is None:
        return _ask_the_system(steps)
    chosen = Step(found.origin, str(found.path), LOADED)
    if copies:
        steps += loaded.compare(copies, chosen, instead=_LOADED_INSTEAD[found.origin])
    before = loaded.number_if_loaded(chosen.path)
    handle = _load(found.path, found.origin, steps)
    return Library(handle, chosen.path, found.origin, (*steps, chosen), loaded_here=before is None)


def find_library(given: str | os.PathLike[str] | None = None) -> Found:
    """Find the library's file in all places but the process and the system's loader, and load nothing.

    Raises:
        BackendUnavailable: the library is named, and the file is not there; with the steps.
    """
    tried: list[Step] = []
    for origin, path in _candidates(given):
        missing = _why_not(path, origin)
        if not missing:
            return Found(path, origin, tuple(tried))
        tried.append(Step(origin, str(path), missing))
        if origin in _CORRECT:
            raise _not_found(str(path), _CORRECT[origin], tried)
    if not any(step.origin == PACKAGE for step in tried):
        tried.append(Step(PACKAGE, "", "not installed"))
    return Found(None, SYSTEM, tuple(tried))


def _load_unwinder() -> None:
    """Load GCC's unwinder before the library can load another; do nothing if the system does not have it."""
    if operating_system() == "linux":
        with contextlib.suppress(OSError):
            ctypes.CDLL(UNWINDER)


def _why_not(path: Path, origin: str) -> str:
    """Return why a path can't be the library; empty if it can."""
    if not path.is_absolute():
        return "not an absolute path"
    try:
        if path.is_dir():
            inside = path / library_name()
            return f"a folder{f'; name the file, {inside}' if inside.is_file() else ''}"
        if not path.is_file():
            return _why_not_in_sdk(path) if origin in SDK_VARIABLES else "no such file"
    except OSError as error:
        return str(error.strerror).lower()
    return "" if os.access(path, os.R_OK) else "permission denied"


def _why_not_in_sdk(path: Path) -> str:
    """Return why the library is not in its folder of an SDK: there is no SDK, or it is for other targets."""
    folder = path.parent.parent
    if not folder.is_dir():
        return "no such folder"
    others = sorted(found.parent.name for found in folder.glob(f"*/{path.name}"))
    return f"no such file; the SDK has it for {', '.join(others)}" if others else "no such file"


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
    """Return a sort key for the folders of compilers, by version: ``gcc11.2`` before ``gcc9.3``."""
    return [-int(number) for number in re.findall(r"\d+", path.parent.name)]


def _package_folders() -> list[Path]:
    """Return the folders of the installed package for the library; a package in the current directory is ignored."""
    spec = PathFinder.find_spec(PACKAGE, installed_in())
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    windows = operating_system() == "windows"
    folders = _PACKAGE_FOLDERS.get(system_machine(), ("",)) if windows and machine() == "x86_64" else ("",)
    return [Path(place, folder) for place in places for folder in folders]


def installed_in() -> list[str]:
    """Return the folders in which packages are looked for: those of ``sys.path`` without the current directory."""
    return [entry for entry in sys.path if Path(entry).is_absolute() and not _is_here(entry)]


def _is_here(folder: str) -> bool:
    """Return whether this is the current directory, under any name."""
    try:
        return Path(folder).samefile(os.curdir)
    except OSError:
        return False


def _ask_the_system(tried: list[Step]) -> Library:
    name = library_name()
    search_path = os.environ.get("LD_LIBRARY_PATH", "")
    absolute = ("/", "$ORIGIN", "${ORIGIN}")
    relative = [entry for entry in re.split("[:;]", search_path) if not entry.startswith(absolute)]
    if search_path and relative and operating_system() != "windows":
        tried.append(Step(SYSTEM, name, "skipped: LD_LIBRARY_PATH has an empty or relative entry"))
        raise _not_found(name, _naming_hint(), tried)
    before = loaded.number_if_loaded(name)
    try:
        handle = ctypes.CDLL(name)
    except OSError as error:
        tried.append(Step(SYSTEM, "", str(error)))
        absent = _is_absent(name, str(error))
        raise (_not_found(name, _naming_hint(), tried) if absent else _not_loadable(name, error, tried)) from None
    library = Library(handle, name, SYSTEM, (), loaded_here=before is None)
    path = next((copy.path for copy in loaded.copies(name) if copy.number == library.number), name)
    return attrs.evolve(library, path=path, tried=(*tried, Step(SYSTEM, path, LOADED)))


def _is_absent(name: str, words: str) -> bool:
    """Return whether a loader reports that the library itself is missing, not one of its dependencies."""
    # The words of glibc and musl, Android, and Windows.
    missing = any(phrase in words for phrase in ("No such file", "not found", "ot find"))
    return missing and name in words and "needed by" not in words


def _load(path: Path, origin: str, tried: list[Step]) -> ctypes.CDLL:
    built_for = machine_of(path)
    # A PC with x86-64 loads no file for both kinds of process of a Snapdragon.
    foreign = built_for == ARM64X and system_machine() != "aarch64"
    if built_for is not None and (foreign or machine() not in LOADED_BY.get(built_for, (built_for,))):
        tried.append(Step(origin, str(path), f"built for {built_for}"))
        message = f"{path} is built for {built_for}, but this process for {machine()}"
        hint = f"give the library for {machine()}"
        raise BackendUnavailable(Unavailable.WRONG_ARCHITECTURE, message, hint=hint, tried=tried)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        words = str(error).removeprefix(f"{path}: ")
        tried.append(Step(origin, str(path), words))
        raise _not_loadable(str(path), OSError(words), tried, library=built_for is not None) from None


def _naming_hint() -> str:
    # Other systems have no wheel.
    or_install = ", or pip install onnxruntime-qnn" if operating_system() in ("linux", "windows") else ""
    return f"set {VARIABLE} to its absolute path{or_install}"


def _not_found(what: str, hint: str, tried: list[Step]) -> BackendUnavailable:
    return BackendUnavailable(Unavailable.NOT_FOUND, f"no library {what}", hint=hint, tried=tried)


def _not_loadable(what: str, error: OSError, tried: list[Step], *, library: bool = True) -> BackendUnavailable:
    places = "next to it" if operating_system() == "windows" else "next to it or in LD_LIBRARY_PATH"
    hint = f"leave it where it was installed, with its dependencies {places}"
    if not library:
        hint = f"this is not a library; give the path of {library_name()}"
    return BackendUnavailable(Unavailable.NOT_LOADABLE, f"{what} can't be loaded: {error}", hint=hint, tried=tried)

"""The copies of the vendor's library that this process has loaded: by ONNX Runtime, LiteRT, Windows ML or htppower.

Linux and Android list mapped files in ``/proc/self/maps``, Windows lists modules. Elsewhere no copy is found.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.qnn.log import LOGGER
from htppower.errors import BackendUnavailable, Step, Unavailable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

ALREADY = "loaded already by this process"
LOADED = "loaded"
_MAPS = Path("/proc/self/maps")
_DELETED = " (deleted)"
_LONGEST_WINDOWS_PATH = 32768


@attrs.frozen
class LoadedCopy:
    """A loaded copy of the library.

    Attributes:
        path: its file, as the system reports it; the bare name if the system does not report it.
        number: the loader's number of the copy; None if the loader does not give this copy to Python.
        loader_name: the name by which the loader gives the copy.
    """

    path: str
    number: int | None
    loader_name: str


def copies(name: str) -> tuple[LoadedCopy, ...]:
    """Return the copies of the library with this file name; none if the system can't say."""
    if sys.platform == "win32":
        return tuple(LoadedCopy(path, number, path) for number, path in _modules() if _file_name(path) == name.lower())
    if not hasattr(os, "RTLD_NOLOAD"):
        return ()
    try:
        maps = os.fsdecode(_MAPS.read_bytes())
    except OSError:
        return ()
    paths = files_in_maps(maps, name)
    found = tuple(LoadedCopy(path, number_if_loaded(path), path) for path in paths)
    if any(copy.number is not None for copy in found) or len(found) > 1:
        return found
    # The loader finds these by the library's own name only: a file in an APK, a file in memory, a deleted file.
    number = number_if_loaded(name)
    return found if number is None else (LoadedCopy(paths[0] if paths else name, number, name),)


def file_in_use(default: str, name: str) -> str:
    """Return the file of the library that this process has loaded, such as a controller's; else the default.

    For code that loads the library by path: a second copy would have a link to the DSP of its own.
    """
    files = [copy.path for copy in copies(name) if Path(copy.path).is_file()]
    return default if not files or any(_same_file(default, each) for each in files) else files[0]


def number_if_loaded(path: str) -> int | None:
    """Return the loader's number of a file that is loaded, under this path or another; None if it is not loaded."""
    if sys.platform == "win32":
        return next((number for number, module in _modules() if _same_file(module, path)), None)
    try:
        handle = ctypes.CDLL(path, mode=_mode())
    except OSError:
        return None
    number: int = handle._handle  # noqa: SLF001 - ctypes has no public name for it
    # The loader counts this as a use. If it stayed, the host could not unload its copy.
    _ctypes.dlclose(number)
    return number


def usable(name: str, idle: Container[int]) -> tuple[LoadedCopy, ...]:
    """Return the loaded copies that this process may use; warn of those that the loader does not give to Python.

    Args:
        name: the file name of the library.
        idle: the numbers of copies that only htppower has loaded, and does not use any more. They are left out: a host
            may go on to another file after the first could not be used.
    """
    found = copies(name)
    hidden = [copy.path for copy in found if copy.number is None]
    if hidden:
        LOGGER.warning("this process has loaded %s, which the system's loader does not give", " and ".join(hidden))
    return tuple(copy for copy in found if copy.number is not None and copy.number not in idle)


def take_first_found(loaded: Sequence[LoadedCopy], searched: Iterable[str]) -> tuple[ctypes.CDLL, tuple[Step, ...]]:
    """Return a loaded copy, which stays loaded from now on, and the steps of its choice; the last names the copy.

    Args:
        loaded: the copies that the loader gives to Python, at least one.
        searched: the paths of the search, in order: of several copies the first of these is chosen.
    """
    given = {copy.number: copy for copy in loaded}
    numbers = map(number_if_loaded, searched) if len(given) > 1 else given
    found = next((given[number] for number in numbers if number in given), None)
    chosen = found or loaded[0]
    others = [copy.path for copy in loaded if copy is not chosen]
    why = "the search finds {} first" if found else "the search finds none, and {} is listed first"
    tried = [Step(ALREADY, path, f"not chosen: {why.format(chosen.path)}") for path in others]
    if others:
        LOGGER.warning("votes go to %s, but this process has also loaded %s", chosen.path, " and ".join(others))
    handle = ctypes.CDLL(chosen.loader_name, mode=_mode())
    return handle, (*tried, Step(ALREADY, chosen.path, LOADED))


def compare(loaded: Sequence[LoadedCopy], named: Step, *, instead: str) -> list[Step]:
    """Return the steps for the copies that are loaded, if the library that the user named is one of them.

    Args:
        loaded: the copies that are loaded.
        named: the step that named the file.
        instead: what the user does to use the loaded copy.

    Raises:
        BackendUnavailable: the library is another file.
    """
    number = number_if_loaded(named.path)
    same = {copy.path: number is not None and copy.number == number for copy in loaded}
    tried = [Step(ALREADY, each, f"{'the same' if is_same else 'another'} file") for each, is_same in same.items()]
    if any(same.values()):
        return tried
    message = f"{named.path} would be a second copy of the library: this process has loaded {' and '.join(same)}"
    hint = f"{instead} to use the loaded copy, let all users of the library load one file, or pass second_copy=True"
    tried.append(attrs.evolve(named, outcome="not loaded"))
    raise BackendUnavailable(Unavailable.ALREADY_LOADED, message, hint=hint, tried=tried)


def files_in_maps(text: str, name: str) -> tuple[str, ...]:
    """Return the files with this name that are mapped as code in a text of ``/proc/self/maps``, each once."""
    found: dict[str, None] = {}
    for line in text.split("\n"):
        # Address, permissions, offset, device, inode, file. Only the file may have spaces.
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1]:  # noqa: PLR2004 - as listed above
            # The kernel writes a line feed in a path as an escape.
            path = fields[5].replace("\\012", "\n").removesuffix(_DELETED)
            if path.rpartition("/")[2].removeprefix("memfd:") == name:
                found[path] = None
    return tuple(found)


def _mode() -> int:
    """Return the mode that loads no file and only returns a loaded library; Windows has no such mode."""
    return getattr(os, "RTLD_NOLOAD", ctypes.DEFAULT_MODE)


def _file_name(path: str) -> str:
    return path.replace("/", "\\").rpartition("\\")[2].lower()


def _same_file(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except OSError:
        return os.path.normcase(path) == os.path.normcase(other)


def _modules() -> list[tuple[int, str]]:
    """Return the number and the path of each module of this process."""
    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.K32EnumProcessModules.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32),
        ctypes.POINTER(ctypes.c_uint32),
    )
    kernel.GetModuleFileNameW.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32)
    size, needed = ctypes.sizeof(ctypes.c_void_p), ctypes.c_uint32(0)
    modules = (ctypes.c_void_p * 0)()
    while True:
        room = ctypes.sizeof(modules)
        if not kernel.K32EnumProcessModules(kernel.GetCurrentProcess(), modules, room, ctypes.byref(needed)):
            return []
        if needed.value <= room:
            break
        modules = (ctypes.c_void_p * (needed.value // size))()
    path = ctypes.create_unicode_buffer(_LONGEST_WINDOWS_PATH)
    numbers = [number for number in modules[: needed.value // size] if number]
    return [(number, path.value) for number in numbers if kernel.GetModuleFileNameW(number, path, len(path))]

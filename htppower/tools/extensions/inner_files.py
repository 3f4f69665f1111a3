"""The inner files that an outer file names: a single one, or one for each SoC."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from htppower.errors import ProfileError, shortened
from htppower.profiles.paths import folder_of, joined
from htppower.tools.extensions.extension_file import FileKind, parse_extension_file, read_extension_file
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_parser import Node

# The name, after Qnn, of a library that reads the inner file of a backend.
_LIBRARY = re.compile(r"(?P<backend>[A-Za-z]+?)(?:V[0-9]+)?NetRunExtensions?\.(?:so|dll)")
_BACKENDS = {
    name.lower().replace(" ", ""): name for name in ("LPAI", "DSP", "GPU", "CPU", "HTA", "HTP MCP", "AIC", "IR", "GNA")
}


def inner_files(file: ExtensionFile, find: Callable[[str, str], str] | None = None) -> tuple[ExtensionFile, ...]:
    """Return the files with the settings, in order: this file, or those that it names.

    A relative path is searched next to the outer file, then, like the vendor's tools do, in the working folder.
    ``find`` replaces this search: it gets the outer file's folder and the path.

    Raises:
        ProfileError: an outer file names no file, a file that can't be read, or another outer file.
    """
    if file.kind is FileKind.INNER:
        return (file,)
    if other := other_backend(file):
        message = f"the outer file of the {other[1]} backend, which votes nothing on the HTP"
        hint = "name the outer file of libQnnHtpNetRunExtensions.so"
        raise ProfileError([file.problem("TYPE-1", other[0], message, hint)])
    return tuple(_inner(file, node, find or beside_or_here) for node in _named(file))


def other_backend(file: ExtensionFile) -> tuple[Node, str] | None:
    """Return the library and the backend's name if an outer file is for another backend than the HTP, else None."""
    for block in file.of(Section.BACKEND_EXTENSIONS):
        node = block.get("shared_library_path")
        named = None if node is None else _LIBRARY.fullmatch(str(node.value).rpartition("Qnn")[2])
        if node is not None and named is not None and named["backend"].lower() != "htp":
            return node, _BACKENDS.get(named["backend"].lower(), named["backend"])
    return None


def beside_or_here(folder: str, named: str) -> str:
    """Return the real path for a path in a file: next to that file, or in the working folder.

    A path on the device, such as ``/data/local/tmp/htp.json``, stands for the file of that name next to this one.
    """
    beside = joined(folder, named)
    if os.path.exists(beside):
        return beside
    copied = joined(folder, re.split(r"[/\\]", named)[-1])
    return named if os.path.exists(named) or not (os.path.isabs(named) and os.path.isfile(copied)) else copied


def followed(path: str, given: bytes | None = None) -> tuple[str, ...]:
    """Return the inner files of an outer file that lint reads too: those in its folder or in subfolders.

    ``given`` replaces the content of the file.
    """
    try:
        file = read_extension_file(path) if given is None else parse_extension_file(given, path)
        if other_backend(file) is not None:
            return ()
        found = (beside_or_here(folder_of(path), joined(named)) for named in named_paths(file))
        return tuple(each for each in found if is_within(folder_of(path), each) and os.path.isfile(each))
    except (ProfileError, OSError, ValueError):
        return ()


def beside_dialog(dialog: str, named: str) -> str | None:
    """Return the path of the extension file that a dialog of Genie names; None if it is not on this machine.

    A path on the device, such as ``/storage/htp.json`` or ``{{MODEL_DIR}}/htp.json``, stands for the file of that name
    in the dialog's folder.
    """
    folder = folder_of(dialog)
    for path in (joined(folder, named), joined(folder, re.split(r"[/\\]", named)[-1])):
        try:
            if os.path.isfile(path):
                return path
        except ValueError:
            continue
    return None


def is_within(folder: str, file: str) -> bool:
    """Return whether a file is in a folder or its subfolders, with links resolved."""
    top = os.path.realpath(folder)
    return os.path.realpath(file).startswith(os.path.join(top, ""))


def named_paths(file: ExtensionFile) -> tuple[str, ...]:
    """Return the paths that an outer file names, unchanged; for an inner file, nothing.

    Raises:
        ProfileError: an outer file names no file.
    """
    return () if file.kind is FileKind.INNER else tuple(str(node.value) for node in _named(file))


def _named(file: ExtensionFile) -> tuple[Node, ...]:
    """Return the paths that an outer file names."""
    blocks = file.of(Section.BACKEND_EXTENSIONS)
    if not blocks:
        top = file.text.accepted()
        node = top.get("backend_extensions") or top
        raise ProfileError([file.problem("TYPE-1", node, f"backend_extensions is {node.kind}", "write an object")])
    block = blocks[0]
    one, several = block.get("config_file_path"), block.get("per_soc_config_file_path")
    if one is not None and several is not None:
        message = "config_file_path and per_soc_config_file_path exclude each other"
        raise ProfileError([file.problem("KEY-1", several, message, "keep one of them")])
    found = one or several
    if found is None:
        hint = "write config_file_path"
        raise ProfileError([file.problem("KEY-2", block.node, "no config_file_path: no settings are read", hint)])
    paths = found.items if found is several else (found,)
    wrong = [path for path in paths if path.kind is not Kind.TEXT]
    if wrong or not paths or (found is several and found.kind is not Kind.LIST):
        node = wrong[0] if wrong else found
        wanted = "a list of paths" if found is several else "a path"
        raise ProfileError([file.problem("TYPE-1", node, f"{node.kind}, where {wanted} is needed", f"write {wanted}")])
    return paths


def _inner(file: ExtensionFile, node: Node, find: Callable[[str, str], str]) -> ExtensionFile:
    try:
        inner = read_extension_file(find(folder_of(file.path), joined(str(node.value))))
    except (ProfileError, ValueError) as error:
        if isinstance(error, ProfileError) and error.problems[0].rule not in ("FILE-1", "FILE-2"):
            raise
        said = error.problems[0].message if isinstance(error, ProfileError) else str(error)
        message = f"{shortened(str(node.value))!r} {said}"
        raise ProfileError([file.problem("FILE-1", node, message, "check the path and permissions")]) from None
    if inner.kind is FileKind.OUTER:
        message = f"{shortened(str(node.value))!r} is an outer file, too"
        raise ProfileError([file.problem("TYPE-1", node, message, "name the file with the settings")])
    return inner

"""An exported profile put into an existing extension file, of which every other byte stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, ProfileError
from htppower.extensions.checks import problems
from htppower.extensions.extension_file import FileKind, extension_file
from htppower.extensions.from_profile import CORE_KEYS, device_settings
from htppower.extensions.json_edits import with_value, without
from htppower.extensions.keys import Section

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.extensions.extension_file import ExtensionFile
    from htppower.extensions.from_profile import Exported
    from htppower.rules.socs import Soc


def merged(file: ExtensionFile, exported: Exported, *, soc: Soc | None = None, core: int = 0) -> ExtensionFile:
    """Return a file with a profile in it: in this core of its first device, which are added where they are missing.

    Other settings of the core stay. The SoC, where one is given, becomes that of the device.

    Raises:
        ProfileError: the vendor's parser refuses the file as it is, or it is an outer one.
    """
    if file.kind is FileKind.OUTER:
        message = "an outer file, which names the file of the settings"
        raise ProfileError([Finding.of_file(file.path, "TYPE-1", message, "merge into that")])
    if broken := problems(file):
        raise ProfileError(broken)
    device: KeyPath = ("devices", "0")
    at = _core(file, core)
    text = file.text
    for name, value in device_settings(soc).items():
        text = with_value(text, (*device, name), value)
    if text.at(at) is None:
        text = with_value(text, at, {"core_id": core, **exported.settings})
    for name in CORE_KEYS:
        if name in exported.settings:
            text = with_value(text, (*at, name), exported.settings[name])
        else:
            text = without(text, (*at, name))
    return extension_file(text)


def _core(file: ExtensionFile, core: int) -> KeyPath:
    """Return what leads to a core of the first device, or to where it is to be added."""
    cores = file.of(Section.CORE, ("devices", "0"))
    for block in cores:
        node = block.get("core_id")
        if (0 if node is None else node.value) == core:
            return block.at
    return ("devices", "0", "cores", str(len(cores)))

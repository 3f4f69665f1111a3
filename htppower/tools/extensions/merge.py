"""Writes an exported profile into an existing extension file, and leaves every other byte unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, ProfileError
from htppower.tools.extensions.extension_file import FileKind, extension_file
from htppower.tools.extensions.from_profile import device_settings
from htppower.tools.extensions.json_edits import with_value, without
from htppower.tools.extensions.json_parser import Member
from htppower.tools.extensions.key_table import KEYS
from htppower.tools.extensions.key_words import read_as
from htppower.tools.extensions.keys import CORE_KEYS, VOTE_SECTIONS, Section
from htppower.tools.extensions.one_core import core_id, with_one_core
from htppower.tools.extensions.performance import core_performance
from htppower.tools.extensions.refusals import refusals
from htppower.tools.extensions.unknown_keys import unknown_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Relax
    from htppower.rules.socs import Soc
    from htppower.tools.extensions.extension_file import ExtensionFile, Wrong
    from htppower.tools.extensions.from_profile import Exported
    from htppower.votes.vote_set import VoteSet

_OF_CUSTOM = frozenset(name for section, name in KEYS if section in VOTE_SECTIONS)


def merged(file: ExtensionFile, exported: Exported, *, soc: Soc | None = None, core: int = 0) -> ExtensionFile:
    """Return a file with a profile in this core of its first device; core and device are added if they are missing.

    Other settings of the core stay. If a SoC is given, it becomes the device's SoC.

    Raises:
        ProfileError: the vendor's parser refuses the file before or after the change; it is an outer file; the settings
            of another core would override the profile; or an unknown key in its first device is read as one of the keys
            of the profile.
    """
    if file.kind is FileKind.OUTER:
        message = "an outer file, which only names the file with the settings"
        raise ProfileError([Finding.of_file(file.path, "TYPE-1", message, "merge into that file")])
    if broken := refusals(file):
        raise ProfileError(broken)
    if misread := [file.problem(*each) for each in _misread(file)]:
        raise ProfileError(misread)
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
    done = extension_file(text)
    # The parser combines the settings of several cores; the last value of a key counts.
    if broken := refusals(done):
        raise _outvoted(file, broken[0].rule, broken[0].message)
    if _voted(done, at) != _voted(with_one_core(done), (*device, "cores")):
        said = f"core {core} would not be voted: of several cores, the last value of a key counts"
        raise _outvoted(file, "VALUE-1", said)
    return done


def _outvoted(file: ExtensionFile, rule: str, says: str) -> ProfileError:
    """Return the error that settings of other cores override the profile."""
    said = f"with the profile in it: {says}"
    return ProfileError([Finding.of_file(file.path, rule, said, "change its other cores first")])


def _voted(file: ExtensionFile, at: KeyPath) -> tuple[VoteSet, Relax | None]:
    """Return the votes of the only core at a place."""
    (core,) = file.of(Section.CORE, at)
    profile = core_performance(file, core).profile
    return profile.votes, profile.relax


def _misread(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield the unknown keys of the first device that are read as known keys, and may override them."""
    for block, wrong in unknown_keys(file):
        if block.at[:2] == ("devices", "0") and isinstance(wrong.at, Member):
            others = read_as(block.at, wrong.at)
            if any(name in CORE_KEYS or name in _OF_CUSTOM for name in others):
                yield wrong


def _core(file: ExtensionFile, core: int) -> KeyPath:
    """Return the path to a core of the first device, or to the place for a new one."""
    cores = file.of(Section.CORE, ("devices", "0"))
    for block in cores:
        if core_id(block) == core:
            return block.at
    return ("devices", "0", "cores", str(len(cores)))

"""Settings that the vendor's tools silently ignore: keys in the wrong place, keys given twice, later devices.

Also the faults between the inner files of an outer file, one for each SoC.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower.errors import ProfileError, shortened
from htppower.profiles.paths import folder_of, joined
from htppower.tools.extensions.extension_file import FileKind, Wrong, read_extension_file
from htppower.tools.extensions.inner_files import beside_or_here, other_backend
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.key_checks import OURS, unknown_key
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.one_core import cores_by_device, outvoted
from htppower.tools.extensions.performance import votes_of_genie

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Member, Node

_INNER_KEYS = ("graphs", "devices", "context", "groupContext", "memory")


def ignored(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield the ignored parts of a file that the vendor's tools accept."""
    for block in file.blocks:
        seen: set[str] = set()
        for member, key in block.members():
            if member.key in seen:
                said = f"{shortened(member.key)} is given twice: the vendor's tools silently take the first"
                yield Wrong("EXT-21", member, said, "keep one")
            elif key is None and not (block.at == () and member.key == OURS):
                yield _unknown(file, block, member)
            seen.add(member.key)
        if block.section is Section.TOP:
            yield from _later_devices(block)
        elif block.section is Section.BACKEND_EXTENSIONS:
            yield from _inner_files(file, block)
    for cores in cores_by_device(file).values():
        yield from _outvoted(cores)
    other = other_backend(file)
    if other is not None:
        node, backend = other
        said = (
            f"{shortened(node.value)} is of the {backend} backend: neither this file nor what it names votes on the HTP"
        )
        yield Wrong("EXT-23", node, said, "lint the outer file of libQnnHtpNetRunExtensions.so")
    elif file.kind is FileKind.OUTER:
        said = f"an outer file for qnn-net-run: Genie reads it as an inner file, and {votes_of_genie(file)}"
        yield Wrong("EXT-50", file.text.accepted(), said, "for Genie, name the inner file in engine.backend.extensions")


def _unknown(file: ExtensionFile, block: Block, member: Member) -> Wrong:
    if file.kind is FileKind.OUTER and not block.at and member.key in _INNER_KEYS:
        said = f"{member.key} in an outer file: the vendor's tools silently ignore it, and only Genie reads it"
        return Wrong("EXT-23", member, said, "write it into the inner file")
    return unknown_key(block, member)


def _later_devices(top: Block) -> Iterator[Wrong]:
    devices = top.get("devices")
    if devices is not None and len(devices.items) > 1:
        said = f"of {len(devices.items)} devices the vendor's tools silently use the first"
        yield Wrong("EXT-22", devices.items[1], said, "write a file for each device")


def _outvoted(cores: list[Block]) -> Iterator[Wrong]:
    """Yield the values of a core that a later core of the device overrides."""
    for each in outvoted(cores):
        said, counts = each.value.value, each.counts.value
        if said != counts:
            text = f"{each.key} {shortened(str(said))} is not voted: a later core has {shortened(str(counts))}"
            yield Wrong("EXT-25", each.member, text, "write the same into each core")


def _inner_files(file: ExtensionFile, block: Block) -> Iterator[Wrong]:
    """Yield an outer file that does not name its inner files, and the inner files that can't be used.

    Such a file is neither next to the outer one nor in the current folder, or is an outer file itself.
    """
    one, several = block.get("config_file_path"), block.get("per_soc_config_file_path")
    if one is not None and several is not None:
        said = "config_file_path and per_soc_config_file_path exclude each other"
        yield Wrong("EXT-23", several, said, "keep one")
    elif one is None and several is None:
        said = "no inner file is named, so the library of the backend gets no settings"
        yield Wrong("EXT-23", block.node, said, 'add "config_file_path"')
    elif several is not None and several.kind is Kind.LIST and not several.items:
        yield Wrong("EXT-23", several, "per_soc_config_file_path names no file", "name one for each SoC")
    for node in (*(() if one is None else (one,)), *(() if several is None else several.items)):
        if node.kind is not Kind.TEXT:
            continue
        try:
            path = beside_or_here(folder_of(file.path), joined(node.value))
            is_there = os.path.isfile(path)
        except (OSError, ValueError):
            is_there = False
        inner = _inner(file, node) if is_there else None
        if not is_there:
            said = f"{shortened(node.value)!r} is not a file: without it the backend gets no settings"
            yield Wrong("EXT-23", node, said, "check the path")
        elif inner is not None and inner.kind is FileKind.OUTER:
            said = f"{shortened(node.value)!r} is an outer file, too: the backend gets no settings"
            yield Wrong("EXT-23", node, said, "name the file with the settings")


def of_several_socs(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield faults between the inner files that exist. A missing file can't be checked."""
    for block in file.of(Section.BACKEND_EXTENSIONS):
        named = block.get("per_soc_config_file_path")
        if named is None or named.kind is not Kind.LIST:
            continue
        files = [(node, _inner(file, node)) for node in named.items if node.kind is Kind.TEXT]
        read = [(node, inner) for node, inner in files if inner is not None]
        yield from _twice(read)
        sharing = [_shares(inner) for _, inner in read]
        for (node, _), shares in zip(read, sharing, strict=True):
            if not shares and any(sharing):
                said = f"{node.value} does not set reference_weight_sharing_enabled, as others do"
                yield Wrong("EXT-40", node, said, "set it in all, or in none")


def _inner(file: ExtensionFile, node: Node) -> ExtensionFile | None:
    """Return the inner file that a text names; None if it can't be read."""
    try:
        return read_extension_file(beside_or_here(folder_of(file.path), joined(str(node.value))))
    except (ProfileError, OSError, ValueError):
        return None


def _twice(files: list[tuple[Node, ExtensionFile]]) -> Iterator[Wrong]:
    seen: dict[object, str] = {}
    for node, inner in files:
        for block in inner.of(Section.DEVICE)[:1]:
            soc = block.get("soc_model") or block.get("soc_id")
            if soc is not None and soc.value in seen:
                said = f"{node.value} is for SoC {soc.value}, as is {seen[soc.value]}: the second can't be added"
                yield Wrong("EXT-40", node, said, "name each SoC once")
            elif soc is not None:
                seen[soc.value] = node.value


def _shares(inner: ExtensionFile) -> bool:
    values = [block.get("reference_weight_sharing_enabled") for block in inner.of(Section.CONTEXT)]
    return any(value is not None and value.value is True for value in values)

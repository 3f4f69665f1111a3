"""Compares the inner files that an outer file names, one for each SoC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import ProfileError
from htppower.profiles.paths import folder_of, joined
from htppower.tools.extensions.extension_file import Wrong, read_extension_file
from htppower.tools.extensions.inner_files import beside_or_here
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.keys import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_nodes import Node


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

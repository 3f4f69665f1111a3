"""All reasons why the vendor's parser refuses a whole file, so that the tools run without any of its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import shortened
from htppower.profiles.did_you_mean import nearest
from htppower.tools.extensions.extension_file import FileKind, inner_blocks
from htppower.tools.extensions.json_nodes import Member
from htppower.tools.extensions.key_table import KEYS, known
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.refusals.customs import refused_custom, refused_profile
from htppower.tools.extensions.refusals.leaves import leaves, named_leaves, refused_leaves
from htppower.tools.extensions.refusals.meant import meant_by
from htppower.tools.extensions.refusals.members import refused_members
from htppower.tools.extensions.refusals.spans import Spans
from htppower.tools.extensions.refusals.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_nodes import Node
    from htppower.tools.extensions.refusals.leaves import Leaf

# Keys of an outer file; the code that reads them reads no inner file.
_OF_OUTER = ("backend_extensions", "context_configs", "graph_configs")
_WHOLE = "the vendor's tools refuse the whole file"


def refused(file: ExtensionFile) -> list[Wrong]:
    """Return the reasons to refuse a file, in the order of its objects."""
    found: list[Wrong] = []
    for block in inner_blocks(file):
        found += refused_members(block)
        found += refused_custom(block)
    told = Spans((at.start, at.node.end if isinstance(at, Member) else at.end) for at in (each.at for each in found))
    found += (_unknown(leaf) for leaf in _values(file) if not told.cover(leaf.node.start, leaf.node.end))
    found += _by_lists(file)
    return [each for each in found if not file.text.placeholder(each.at)]


def _values(file: ExtensionFile) -> Iterator[Leaf]:
    """Yield the plain values that no key of graphs or cores accepts."""
    for leaf in refused_leaves(file.text.accepted()):
        if file.kind is not FileKind.OUTER or not leaf.path.startswith(_OF_OUTER):
            yield leaf


def _unknown(leaf: Leaf) -> Wrong:
    """Return the problem of such a value: its key if no word matches, otherwise the value."""
    where = Section.GRAPH if "graphs" in leaf.path else Section.CORE
    name = leaf.path.rpartition(".")[2]
    if leaf.word:
        said = f"{leaf.node.kind} at {shortened(leaf.path)}, which no key of that name accepts: {_WHOLE}"
        key = KEYS.get((where, name))
        return Wrong("EXT-11", leaf.node, said, "" if key is None else meant_by(key, leaf.node))
    said = f"the unknown key {shortened(leaf.path)}: {_WHOLE}"
    near = nearest(name, known(where))
    return Wrong("EXT-14", leaf.key or leaf.node, said, f"did you mean {near}?" if near else "delete it")


def _by_lists(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in its lists of graphs, devices and contexts as a whole."""
    root = file.text.accepted()
    for member in root.firsts().values():
        yield from _empty_before(member, root)
        if "devices" in member.key:
            # A list whose key contains the word devices is read as a list of devices, too.
            yield from refused_profile(member.node)
    devices = root.get("devices")
    if devices is not None:
        yield from _client_context(devices, root)


def _empty_before(member: Member, root: Node) -> Iterator[Wrong]:
    """Yield an object without any value that comes before an object with values in the same list."""
    if "context" in member.key and _says_client_context(root.get("devices")):
        # The parser identifies contexts by the word context, which use_client_context contains, too.
        return
    empty: Node | None = None
    for item in member.node.items:
        if next(leaves(item), None) is None:
            empty = empty or item
        elif empty is not None and any(named_leaves(item, f"{member.key}[]")):
            said = f"an object without values before another one in {member.key}: {_WHOLE}"
            yield Wrong("EXT-18", empty, said, "delete it, or put it last")
            return


def _says_client_context(devices: Node | None) -> bool:
    return devices is not None and any(item.get("use_client_context") for item in devices.items)


def _client_context(devices: Node, root: Node) -> Iterator[Wrong]:
    """Yield the key use_client_context, whose name contains the word context, in a device after one without it."""
    context = root.get("context")
    if context is None or next(leaves(context), None) is None or not devices.items:
        return
    for item in devices.items[1:]:
        node = item.get("use_client_context")
        if node is not None and devices.items[0].get("use_client_context") is None:
            said = f"use_client_context in a device after one without it, and context: {_WHOLE}"
            yield Wrong("EXT-18", node, said, "only the first of several devices is used: delete the others")
            return

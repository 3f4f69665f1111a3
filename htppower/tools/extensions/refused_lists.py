"""Reasons to refuse a file in its lists of graphs, devices and contexts as a whole, and in the profile ``custom``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.extension_file import WHOLE_FILE, Wrong
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.key_words import Words, found_in, leaves, named_leaves, words_of
from htppower.tools.extensions.keys import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block
    from htppower.tools.extensions.json_parser import Member, Node

# Clock votes in custom, in both of its forms, and in its items.
_CUSTOM = words_of(r"cores.*custom(?:(?!custom)[^.\[])*[.\[].*dcvs(Exp)?Control")
_ITEMS = words_of(r"cores.*custom(?:(?!custom)[^.\[])*\[.*dcvs(Exp)?Control")


def refused_custom(block: Block) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the clock votes of an item."""
    for member in block.node.members if block.section is Section.DCVS else ():
        if member.key == "sleep_disable":
            said = f"sleep_disable in an item of custom: {WHOLE_FILE}"
            yield Wrong("EXT-14", member, said, "delete it: only the object form of custom accepts it")


def refused_lists(root: Node) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in its lists of graphs, devices and contexts as a whole."""
    for member in root.firsts().values():
        yield from _empty_before(member, root)
        if "devices" in member.key:
            # A list whose key contains the word devices is read as a list of devices, too.
            yield from _refused_profile(member.node)
    devices = root.get("devices")
    if devices is not None:
        yield from _client_context(devices, root)


def _refused_profile(devices: Node) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the combined profiles of its cores.

    Of all cores of the first device the parser keeps the last profile and the last custom, and refuses the file if only
    one of the two exists. It looks for the items of a later device in the first device.
    """
    if not devices.items:
        return
    profile, custom = _of_device(devices.items[0])
    if _is_custom(profile) and custom is None and profile is not None:
        said = f"perf_profile custom without clock votes in custom: {WHOLE_FILE}"
        yield Wrong("EXT-17", profile, said, "add custom with dcvsControl in an item for each graph state")
    elif custom is not None and not _is_custom(profile):
        said = f"custom, and the last perf_profile of the cores is not custom: {WHOLE_FILE}"
        yield Wrong("EXT-17", profile or custom, said, 'write "perf_profile": "custom", or delete custom')
    elif custom is None:
        # The parser looks for the items of a list, but not for the older object form.
        for later, items in (_of_device(device, _ITEMS) for device in devices.items[1:]):
            if items is not None and _is_custom(later):
                said = f"custom in a device after one without it: {WHOLE_FILE}"
                yield Wrong("EXT-17", items, said, "only the first of several devices is used: delete the others")


def _of_device(device: Node, wanted: Words = _CUSTOM) -> tuple[Node | None, Node | None]:
    """Return the last profile of a device's cores, and a value of a custom whose item is voted."""
    profile: Node | None = None
    custom: Node | None = None
    unvoted = {leaf.node.start for item in _unvoted(device) for leaf in leaves(item)}
    for leaf in leaves(device):
        if "cores" in leaf.path and "perf_profile" in leaf.path:
            profile = leaf.node
        elif found_in(leaf.path, wanted) and leaf.node.start not in unvoted:
            custom = leaf.node
    return profile, custom


def _unvoted(node: Node) -> Iterator[Node]:
    """Yield the items of custom that are not voted, since later items in the same list name all their states."""
    for member in node.members:
        if member.key == "custom":
            last = {state: item.start for item in member.node.items for state in _states(item)}
            voted = set(last.values())
            yield from (item for item in member.node.items if any(_states(item)) and item.start not in voted)
        yield from _unvoted(member.node)
    for item in node.items:
        yield from _unvoted(item)


def _states(item: Node) -> Iterator[str]:
    for leaf in leaves(item):
        if "graphState" in leaf.path:
            yield leaf.node.c_text


def _is_custom(profile: Node | None) -> bool:
    return profile is not None and profile.kind is Kind.TEXT and profile.c_text == "custom"


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
            said = f"an object without values before another one in {member.key}: {WHOLE_FILE}"
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
            said = f"use_client_context in a device after one without it, and context: {WHOLE_FILE}"
            yield Wrong("EXT-18", node, said, "only the first of several devices is used: delete the others")
            return

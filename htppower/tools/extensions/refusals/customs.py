"""Reasons to refuse a file in the profile ``custom``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.refusals.leaves import Words, found_in, leaves, words_of
from htppower.tools.extensions.refusals.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block
    from htppower.tools.extensions.json_nodes import Node

# Clock votes in custom, in both of its forms, and in its items.
_CUSTOM = words_of(r"cores.*custom(?:(?!custom)[^.\[])*[.\[].*dcvs(Exp)?Control")
_ITEMS = words_of(r"cores.*custom(?:(?!custom)[^.\[])*\[.*dcvs(Exp)?Control")
_WHOLE = "the vendor's tools refuse the whole file"


def refused_custom(block: Block) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the clock votes of an item."""
    for member in block.node.members if block.section is Section.DCVS else ():
        if member.key == "sleep_disable":
            said = f"sleep_disable in an item of custom: {_WHOLE}"
            yield Wrong("EXT-14", member, said, "delete it: only the object form of custom takes it")


def refused_profile(devices: Node) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the combined profiles of its cores.

    Of all cores of the first device the parser keeps the last profile and the last custom, and refuses the file if only
    one of the two exists. It looks for the items of a later device in the first device.
    """
    if not devices.items:
        return
    profile, custom = _of_device(devices.items[0])
    if _is_custom(profile) and custom is None and profile is not None:
        said = f"perf_profile custom without clock votes in custom: {_WHOLE}"
        yield Wrong("EXT-17", profile, said, "add custom with dcvsControl in an item for each graph state")
    elif custom is not None and not _is_custom(profile):
        said = f"custom, and the last perf_profile of the cores is not custom: {_WHOLE}"
        yield Wrong("EXT-17", profile or custom, said, 'write "perf_profile": "custom", or delete custom')
    elif custom is None:
        # The parser looks for the items of a list, but not for the older object form.
        for later, items in (_of_device(device, _ITEMS) for device in devices.items[1:]):
            if items is not None and _is_custom(later):
                said = f"custom in a device after one without it: {_WHOLE}"
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
            yield str(leaf.node.value).partition("\0")[0]


def _is_custom(profile: Node | None) -> bool:
    return profile is not None and profile.kind is Kind.TEXT and profile.value.partition("\0")[0] == "custom"

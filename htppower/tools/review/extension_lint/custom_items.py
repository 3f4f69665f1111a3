"""Items of the profile ``custom`` that leave votes up, or vote something else than they seem to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.extension_file import Wrong
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.key_table import GRAPH_STATES
from htppower.tools.extensions.keys import Section
from htppower.votes.corners import ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile

_DISABLE = "DISABLE"
_CLOCKS = {
    Section.DCVS: ("bus", "core"),
    Section.DCVS_EXP: ("bus", "core"),
    Section.HMX: ("hmx",),
    Section.CORE_HMX: ("hmx",),
    Section.CENG: ("ceng",),
    Section.CENG_EXP: ("ceng",),
}
_LEVEL = {corner.enumerator: corner.value for kind in (VoltageCorner, ExpandedCorner) for corner in kind}


def odd_items(file: ExtensionFile, together: ExtensionFile) -> Iterator[Wrong]:
    """Yield odd items, in the file and in the file with the cores of a device merged, ``together``."""
    for core in together.of(Section.CORE):
        custom = core.get("custom")
        if custom is not None and custom.kind is Kind.LIST and custom.items:
            yield from _unnamed_states(core)
    for block in file.blocks:
        for clock in _CLOCKS.get(block.section, ()):
            yield from _order(block, clock)
        if block.section is Section.CUSTOM_ITEM:
            yield from _two_forms(block)


def _unnamed_states(core: Block) -> Iterator[Wrong]:
    custom = core.get("custom")
    if custom is None:
        return
    named = set()
    for item in custom.items:
        states = item.get("graphState")
        named |= {each.value for each in states.items} if states is not None else set()
    missing = [state for state in GRAPH_STATES if state not in named]
    if missing:
        stays = " and the votes stay up after it" if any(state.endswith("_done") for state in missing) else ""
        said = f"no item names {', '.join(missing)}: the previous votes stay in force{stays}"
        yield Wrong("EXT-33", custom, said, f"add an item for {missing[0]}")


def _order(block: Block, clock: str) -> Iterator[Wrong]:
    nodes = [block.get(f"{clock}VoltageCorner{limit}") for limit in ("Min", "Target", "Max")]
    levels = [_LEVEL.get(str(node.value)) for node in nodes if node is not None and node.kind is Kind.TEXT]
    numbers = [level for level in levels if level is not None]
    if len(numbers) < len(nodes) or numbers == sorted(numbers) or nodes[0] is None:
        return
    if any(node is not None and str(node.value).endswith(_DISABLE) for node in nodes):
        return
    said = f"the {clock} corners are not min <= target <= max, and are voted as they are"
    yield Wrong("EXT-34", nodes[0], said, "put them in order")


def _two_forms(block: Block) -> Iterator[Wrong]:
    for old, new in (("dcvsControl", "dcvsExpControl"), ("cengControl", "cengExpControl")):
        node = block.get(old)
        if node is not None and block.get(new) is not None:
            yield Wrong("EXT-41", node, f"{old} next to {new}: {new} is voted", "keep one")

"""The cores of a device as the vendor's parser reads them: as one, in which of several values of a key the last counts.

Measured on QAIRT 2.51 by what the vendor's voter casts, whatever the ids of the cores: ``burst`` with a polling time in
one core and ``balanced`` in the next vote balanced with that polling time. Items of ``custom`` come one after the
other; where a core has one item, the first of the next core goes on with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from htppower.extensions.extension_file import with_tree
from htppower.extensions.json_nodes import Kind, Member, Node
from htppower.extensions.keys import Section
from htppower.extensions.vote_keys import BESIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.extensions.extension_file import Block, ExtensionFile


class OneCore(NamedTuple):
    """The cores of a device, as one.

    Attributes:
        device: the number of the device, from 0.
        ids: the ids of its cores, each once.
        core: what they say together.
    """

    device: int
    ids: tuple[int, ...]
    core: Block


class Outvoted(NamedTuple):
    """What a core of a device says, and a later one says again.

    Attributes:
        key: what it says, by its proper name.
        member: where.
        value: its value.
        counts: the value of the last core that says it.
    """

    key: str
    member: Member
    value: Node
    counts: Node


def core_id(core: Block) -> int:
    """Return the id of a core; one that says none is 0."""
    return core.number("core_id") or 0


def cores_by_device(file: ExtensionFile) -> dict[Block, list[Block]]:
    """Return the cores of each device, in their order; a device may have none."""
    devices = {device.at: device for device in file.of(Section.DEVICE)}
    found: dict[Block, list[Block]] = {device: [] for device in devices.values()}
    for core in file.of(Section.CORE):
        found[devices[core.at[:2]]].append(core)
    return found


def with_one_core(file: ExtensionFile, wanted: int | None = None) -> ExtensionFile:
    """Return a file of which each device has one core at most: all of them together.

    Args:
        file: an inner file, which the parser takes.
        wanted: only cores of this id.
    """
    joined: dict[int, Node] = {}
    for device, cores in cores_by_device(file).items():
        kept = [core.node for core in cores if wanted in (None, core_id(core))]
        if len(kept) < len(cores) or len(kept) > 1:
            joined[device.node.start] = _with_items(device.node, "cores", (_joined(kept),) if kept else ())
    return with_tree(file, _replaced(file.text.accepted(), joined)) if joined else file


def as_one_core(file: ExtensionFile, wanted: int | None = None) -> tuple[ExtensionFile, tuple[OneCore, ...]]:
    """Return a file as ``with_one_core`` does, and its cores; a device without any has none there."""
    ids = [tuple(dict.fromkeys(map(core_id, cores))) for cores in cores_by_device(file).values()]
    joined = with_one_core(file, wanted)
    return joined, tuple(
        OneCore(device, ids[device] if wanted is None else (wanted,), core)
        for device, cores in enumerate(cores_by_device(joined).values())
        for core in cores
    )


def outvoted(cores: Sequence[Block]) -> Iterator[Outvoted]:
    """Yield what the cores of a device say in vain, but for their custom votes."""
    for name in ("perf_profile", *BESIDE) if len(cores) > 1 else ():
        said = [(member, node) for core in cores if (member := core.member(name)) and (node := core.get(name))]
        for member, node in said[:-1]:
            yield Outvoted(name, member, node, said[-1][1])


def _replaced(root: Node, devices: dict[int, Node]) -> Node:
    """Return the tree with these devices, by where they stand, in the place of its own."""
    listed = root.get("devices")
    items = () if listed is None else tuple(devices.get(item.start, item) for item in listed.items)
    return _with_items(root, "devices", items)


def _with_items(node: Node, key: str, items: tuple[Node, ...]) -> Node:
    """Return an object with these items in the list of a key."""
    listed = node.get(key)
    members = (
        each._replace(node=each.node._replace(items=items)) if each.node is listed else each for each in node.members
    )
    return node._replace(members=tuple(members))


def _joined(nodes: Sequence[Node]) -> Node:
    """Return objects as one: of each key the last value, and in its place; lists and objects of several are joined."""
    by_key: dict[str, list[Member]] = {}
    for node in nodes:
        for member in node.firsts().values():
            by_key[member.key] = [*by_key.pop(member.key, ()), member]
    return nodes[0]._replace(members=tuple(members[-1]._replace(node=_value(members)) for members in by_key.values()))


def _value(members: Iterable[Member]) -> Node:
    """Return the value of a key that several objects have; null is passed over."""
    nodes = [each.node for each in members]
    said = [node for node in nodes if node.kind is not Kind.NULL] or nodes[-1:]
    last = said[-1]
    alike = [node for node in said if node.kind is last.kind]
    if last.kind is Kind.OBJECT:
        return _joined(alike)
    return last._replace(items=tuple(_items(alike))) if last.kind is Kind.LIST else last


def _items(lists: Iterable[Node]) -> list[Node]:
    """Return the items of lists, one after the other: an object that is alone in its list goes on in the next."""
    found: list[Node] = []
    goes_on = False
    for items in (each.items for each in lists if each.items):
        if goes_on and items[0].kind is Kind.OBJECT:
            found[-1] = _joined([found[-1], items[0]])
            found += items[1:]
        else:
            found += items
        goes_on = len(items) == 1 and items[0].kind is Kind.OBJECT
    return found

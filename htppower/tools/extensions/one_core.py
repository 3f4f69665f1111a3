"""The cores of a device as the vendor's parser reads them: as a single core, where the last value of each key counts.

Measured on QAIRT 2.51 by the votes of the vendor's voter, for any ids of the cores: ``burst`` with a polling time in
one core and ``balanced`` in the next vote balanced with that polling time. Items of ``custom`` are appended; if a core
has a single item, the first item of the next core continues it.

Also measured: any value under a key with "devices" and a key with "cores" in its name belongs to the core, wherever
these keys are, for example in an unknown key at the top level. The same holds for graphs. Only the first device of each
list is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from htppower.tools.extensions.extension_file import FileKind, with_tree
from htppower.tools.extensions.json_parser import Kind, Member, Node
from htppower.tools.extensions.keys import BESIDE, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.extensions.extension_file import Block, ExtensionFile

_DEVICES, _CORES, _GRAPHS = "devices", "cores", "graphs"


class OneCore(NamedTuple):
    """The cores of a device as a single core.

    Attributes:
        device: the index of the device, from 0.
        ids: the ids of its cores, each once.
        core: their combined settings.
    """

    device: int
    ids: tuple[int, ...]
    core: Block


class Outvoted(NamedTuple):
    """A setting of a core that a later core of the device overrides.

    Attributes:
        key: the key, by its known name.
        member: the member with the setting.
        value: its value.
        counts: the value of the last core with the key.
    """

    key: str
    member: Member
    value: Node
    counts: Node


def core_id(core: Block) -> int:
    """Return the id of a core; without an id it is 0."""
    return core.number("core_id") or 0


def cores_by_device(file: ExtensionFile) -> dict[Block, list[Block]]:
    """Return the cores of each device, in their order; a device may have none."""
    devices = {device.at: device for device in file.of(Section.DEVICE)}
    found: dict[Block, list[Block]] = {device: [] for device in devices.values()}
    for core in file.of(Section.CORE):
        found[devices[core.at[:2]]].append(core)
    return found


def with_strays(file: ExtensionFile) -> ExtensionFile:
    """Return an inner file whose misplaced settings are moved: into its first device, and into its graphs."""
    if file.kind is FileKind.OUTER:
        return file
    root = file.blocks[0].node
    found: dict[Section, list[Node]] = {Section.DEVICE: [], Section.CORE: [], Section.GRAPH: []}
    for section, node in _found(root, ""):
        found[section].append(node)
    devices, cores, graphs = found.values()
    usual = _items(root, _DEVICES)
    first = usual[0] if usual else None
    in_place = devices == list(usual[:1]) and cores == ([] if first is None else _objects(first, _CORES))
    if (devices or cores) and not in_place:
        first = _joined(devices) if devices else cores[0]._replace(members=())
        first = _with_list(first, _CORES, cores)
        root = _with_list(root, _DEVICES, [first, *usual[1:]])
    if graphs != _objects(root, _GRAPHS):
        root = _with_list(root, _GRAPHS, graphs)
    return file if root is file.blocks[0].node else with_tree(file, root)


def _found(node: Node, path: str, around: frozenset[Section] = frozenset()) -> Iterator[tuple[Section, Node]]:
    """Yield the objects of devices, cores and graphs, in the order of the text.

    ``path`` has the keys that lead to the node; ``around`` has the kinds of the objects around it.
    """
    if node.kind is Kind.OBJECT:
        if _is_of_core(path):
            yield Section.CORE, node
            return
        for section, word in ((Section.DEVICE, _DEVICES), (Section.GRAPH, _GRAPHS)):
            if word in path and section not in around:
                yield section, node
                around |= {section}
    for member in node.firsts().values():
        below = f"{path}.{member.key}"
        value = member.node
        if _is_of_core(below) and value.kind not in (Kind.OBJECT, Kind.LIST):
            yield Section.CORE, Node(Kind.OBJECT, member.start, value.end, members=(member,))
            continue
        if value.kind is Kind.LIST and _DEVICES in member.key:
            value = value._replace(items=value.items[:1])
        yield from _found(value, below, around)
    for item in node.items:
        yield from _found(item, path, around)


def _is_of_core(path: str) -> bool:
    return _DEVICES in path and _CORES in path


def _items(node: Node, key: str) -> tuple[Node, ...]:
    listed = node.get(key)
    return () if listed is None else listed.items


def _objects(node: Node, key: str) -> list[Node]:
    return [item for item in _items(node, key) if item.kind is Kind.OBJECT]


def _with_list(node: Node, key: str, items: list[Node]) -> Node:
    """Return an object with this list as its last key; unchanged if there are no items."""
    if not items:
        return node
    start, end = items[0].start, items[-1].end
    added = Member(key, start, end, Node(Kind.LIST, start, end, items=tuple(items)))
    return node._replace(members=(*(each for each in node.members if each.key != key), added))


def with_one_core(file: ExtensionFile, wanted: int | None = None) -> ExtensionFile:
    """Return a file in which each device has at most one core, with the settings of all its cores.

    Args:
        file: an inner file that the parser accepts.
        wanted: use only cores with this id.
    """
    file = with_strays(file)
    joined: dict[int, Node] = {}
    for device, cores in cores_by_device(file).items():
        kept = [core.node for core in cores if wanted in (None, core_id(core))]
        if len(kept) < len(cores) or len(kept) > 1:
            joined[device.node.start] = _with_items(device.node, _CORES, (_joined(kept),) if kept else ())
    return with_tree(file, _replaced(file.blocks[0].node, joined)) if joined else file


def as_one_core(file: ExtensionFile, wanted: int | None = None) -> tuple[ExtensionFile, tuple[OneCore, ...]]:
    """Return the file of ``with_one_core``, and its cores; a device without a core is not in the list."""
    file = with_strays(file)
    ids = [tuple(dict.fromkeys(map(core_id, cores))) for cores in cores_by_device(file).values()]
    joined = with_one_core(file, wanted)
    return joined, tuple(
        OneCore(device, ids[device] if wanted is None else (wanted,), core)
        for device, cores in enumerate(cores_by_device(joined).values())
        for core in cores
    )


def outvoted(cores: Sequence[Block]) -> Iterator[Outvoted]:
    """Yield the settings of a device's cores that later cores override, except for custom votes."""
    for name in ("perf_profile", *BESIDE) if len(cores) > 1 else ():
        said = [(member, node) for core in cores if (member := core.member(name)) and (node := core.get(name))]
        for member, node in said[:-1]:
            yield Outvoted(name, member, node, said[-1][1])


def _replaced(root: Node, devices: dict[int, Node]) -> Node:
    """Return the tree with other devices, by the offset of those that they replace."""
    listed = root.get(_DEVICES)
    items = () if listed is None else tuple(devices.get(item.start, item) for item in listed.items)
    return _with_items(root, _DEVICES, items)


def _with_items(node: Node, key: str, items: tuple[Node, ...]) -> Node:
    """Return an object with these items in the list of a key."""
    listed = node.get(key)
    members = (
        each._replace(node=each.node._replace(items=items)) if each.node is listed else each for each in node.members
    )
    return node._replace(members=tuple(members))


def _joined(nodes: Sequence[Node]) -> Node:
    """Combine objects: the last value of each key counts, at its own place; lists and objects are combined, too."""
    by_key: dict[str, list[Member]] = {}
    for node in nodes:
        for member in node.firsts().values():
            by_key[member.key] = [*by_key.pop(member.key, ()), member]
    return nodes[0]._replace(members=tuple(members[-1]._replace(node=_value(members)) for members in by_key.values()))


def _value(members: Iterable[Member]) -> Node:
    """Return the value of a key that several objects have; null is skipped."""
    nodes = [each.node for each in members]
    said = [node for node in nodes if node.kind is not Kind.NULL] or nodes[-1:]
    last = said[-1]
    alike = [node for node in said if node.kind is last.kind]
    if last.kind is Kind.OBJECT:
        return _joined(alike)
    return last._replace(items=tuple(_joined_items(alike))) if last.kind is Kind.LIST else last


def _joined_items(lists: Iterable[Node]) -> list[Node]:
    """Append the items of lists; an object that is the only item of its list is combined with the next."""
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

"""Settings of an extension file that the vendor's tools accept, and the harm that they do.

Among them are items of the profile ``custom`` that leave votes up, or vote something else than they seem to; and inputs
and outputs that are allocated or copied, depending on how a context was prepared and how it is run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from htppower.tools.extensions.extension_file import Wrong
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import GRAPH_STATES, OLDEST, Section
from htppower.tools.extensions.one_core import cores_by_device
from htppower.tools.extensions.performance import core_performance
from htppower.votes.corners import ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Node

_DEPRECATED = {
    (Section.DEVICE, "soc_id"): "write soc_model",
    (Section.GRAPH, "fp16_relaxed_precision"): "delete it: since 2.35 it does nothing",
    (Section.CONTEXT, "graph_splitting_enabled"): "write graph_splitting_configs",
}
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
RAW, MEMHANDLE = "raw", "memhandle"
_KEYS = ("memType", "mem_type", "input_output_tensor_mem_type", "io_mem_type")
_SAID = re.compile(r"(MEMHANDLE|SHARED_BUFFER)|(RAW)", re.IGNORECASE)


def harmful(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield settings that are accepted and do harm."""
    for block in file.blocks:
        yield from _of_numbers(block)
    for cores in cores_by_device(file).values():
        yield from _no_profile_of(cores)
    yield from _no_profile(file)
    yield from _excluding(file)


def unpolled(together: ExtensionFile) -> Iterator[Wrong]:
    """Yield adaptive polling if nothing polls. The file must be valid, with its cores merged into one."""
    for core in together.of(Section.CORE):
        member = core.member("adaptive_polling_time")
        if member is None or not core.number("adaptive_polling_time"):
            continue
        performance = core_performance(together, core)
        if not performance.profile.votes.rpc_polling_time_us:
            off = "rpc_polling_time 0" if core.number("rpc_polling_time") == 0 else performance.perf_profile
            said = f"adaptive_polling_time is not voted: with {off} nothing polls"
            yield Wrong("EXT-44", member, said, "delete it, or write rpc_polling_time")


def _of_numbers(block: Block) -> Iterator[Wrong]:
    for member, key in block.members():
        if key is None:
            continue
        node = member.node
        if key.useful is not None and node.is_number and not key.useful.low <= node.value <= key.useful.high:
            said = f"{key.name} {node.value} is outside of {key.useful}, and is used unchanged. {key.note}".strip()
            yield Wrong("EXT-32", node, said, f"write a number from {key.useful}")
        if (block.section, key.name) in _DEPRECATED:
            yield Wrong("EXT-51", member, f"{key.name} is deprecated", _DEPRECATED[block.section, key.name])
        if key.since > OLDEST:
            version = ".".join(map(str, key.since))
            yield Wrong("EXT-52", member, f"{key.name} is known from QAIRT {version} on: an older one refuses the file")


def _no_profile_of(cores: list[Block]) -> Iterator[Wrong]:
    """Yield the cores of a device if none of them has a profile. A profile of one core applies to all cores."""
    if all(core.get("perf_profile") is None for core in cores):
        for core in cores:
            said = "a core without perf_profile runs high_performance"
            yield Wrong("EXT-31", core.node, said, 'state it: "perf_profile": "high_performance"')


def _no_profile(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield a file whose first device has no core: the tools run high_performance then, too."""
    top = file.of(Section.TOP)
    if top and not file.of(Section.CORE, ("devices", "0")):
        where = "a first device" if file.of(Section.CORE) else "a file"
        said = f"{where} without cores: the vendor's tools run high_performance"
        at = top[0].get("devices") or top[0].node
        yield Wrong("EXT-31", at, said, 'state it in "cores": [{"perf_profile": "high_performance"}]')


def _excluding(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield settings of graphs and contexts that exclude each other."""
    graphs = file.of(Section.GRAPH)
    on = [name for name in ("dlbc", "dlbc_weights") for graph in graphs if _is_on(graph.get(name))]
    cores = any(node.is_number and node.value > 1 for graph in graphs if (node := graph.get("num_cores")))
    for context in file.of(Section.CONTEXT):
        weights, reference = context.get("weight_sharing_enabled"), context.get("reference_weight_sharing_enabled")
        if weights is not None and weights.value is True and "dlbc_weights" in on:
            said = "weight_sharing_enabled with dlbc_weights: since 2.36 such a binary can't be made"
            yield Wrong("EXT-38", weights, said, "leave out one of the two")
        if reference is None or reference.value is not True:
            continue
        lora = context.get("lora_weight_sharing")
        others = {
            "DLBC": bool(on),
            "several cores": cores,
            "lora_weight_sharing": lora is not None and lora.value is True,
        }
        for what, is_set in others.items():
            if is_set:
                said = f"reference_weight_sharing_enabled with {what}: then weights are not shared by reference"
                yield Wrong("EXT-38", reference, said, "leave out one of the two")


def _is_on(node: Node | None) -> bool:
    return node is not None and node.is_number and bool(node.value > 0)


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


class Row(NamedTuple):
    """What happens for one way to prepare a context and one way to run it.

    Attributes:
        prepared, run: raw or memhandle.
        allocates: whether and when the backend allocates inputs and outputs.
        copies: what is copied in each inference.
    """

    prepared: str
    run: str
    allocates: str
    copies: str


# Vendor, "QNN HTP Qmem Graph".
TABLE = (
    Row(RAW, RAW, "when the context is made", "inputs and outputs"),
    Row(RAW, MEMHANDLE, "when the context is made, though it is not used", "nothing"),
    Row(MEMHANDLE, RAW, "in the first inference, which is slower", "inputs and outputs"),
    Row(MEMHANDLE, MEMHANDLE, "never", "nothing"),
)


def prepared_with(root: Node) -> str | None:
    """Return how a context was prepared, from the tensors in its JSON; None if they do not show it."""
    waiting = [root]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        for member in node.members:
            if member.key in _KEYS and member.node.kind is Kind.TEXT:
                said = _SAID.search(member.node.value)
                if said is not None:
                    found.add(MEMHANDLE if said[1] else RAW)
            waiting.append(member.node)
        waiting += node.items
    return None if not found else MEMHANDLE if MEMHANDLE in found else RAW


def mismatched(file: ExtensionFile, prepared: str | None) -> Iterator[Wrong]:
    """Yield a file that runs a context in another way than it was prepared."""
    if prepared is None:
        return
    for block in file.of(Section.TOP):
        memory = file.of(Section.MEMORY)
        said = memory[0].get("mem_type") if memory else None
        run = MEMHANDLE if said is not None and said.value == "shared_buffer" else RAW
        if run != prepared:
            row = next(row for row in TABLE if (row.prepared, row.run) == (prepared, run))
            what = f"the context was prepared with {prepared}, and is run with {run}"
            hint = 'add "memory": {"mem_type": "shared_buffer"}'
            if run == MEMHANDLE:
                hint = "prepare it with --input_output_tensor_mem_type memhandle"
            message = f"{what}: the backend allocates {row.allocates}; copied in each inference: {row.copies}"
            yield Wrong("EXT-39", said or block.node, message, hint)

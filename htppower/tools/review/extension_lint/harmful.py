"""Settings of an extension file that the vendor's tools accept, and the harm that they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.extension_file import Wrong
from htppower.tools.extensions.keys import OLDEST, Section
from htppower.tools.extensions.one_core import cores_by_device
from htppower.tools.extensions.performance import core_performance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_nodes import Node

_DEPRECATED = {
    (Section.DEVICE, "soc_id"): "write soc_model",
    (Section.GRAPH, "fp16_relaxed_precision"): "delete it: since 2.35 it does nothing",
    (Section.CONTEXT, "graph_splitting_enabled"): "write graph_splitting_configs",
}


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
            said = f"{key.name} {node.value} is outside of {key.useful}, and is taken as it is. {key.note}".strip()
            yield Wrong("EXT-32", node, said, f"write a number from {key.useful}")
        if (block.section, key.name) in _DEPRECATED:
            yield Wrong("EXT-51", member, f"{key.name} is deprecated", _DEPRECATED[block.section, key.name])
        if key.since > OLDEST:
            version = ".".join(map(str, key.since))
            yield Wrong("EXT-52", member, f"{key.name} is known from QAIRT {version} on: an older one refuses the file")


def _no_profile_of(cores: list[Block]) -> Iterator[Wrong]:
    """Yield the cores of a device if none of them has a profile. The profile of one is the profile of all."""
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

"""What the vendor's tools take from an extension file, and what harm it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.extensions.json_nodes import Kind
from htppower.extensions.keys import OLDEST, Section
from htppower.extensions.power_keys import LLM_DECODE
from htppower.extensions.refusals.wrong import Wrong
from htppower.extensions.target import architecture
from htppower.rules.socs import SOCS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.extensions.extension_file import Block, ExtensionFile
    from htppower.extensions.json_nodes import Node
    from htppower.rules.platforms import Platform

_DDR_FROM, _LLM_FROM = 81, 79
_RPC_KEYS = ("rpc_control_latency", "rpc_polling_time", "adaptive_polling_time")
_DEPRECATED = {
    (Section.DEVICE, "soc_id"): "write soc_model",
    (Section.GRAPH, "fp16_relaxed_precision"): "delete it: since 2.35 it does nothing",
    (Section.CONTEXT, "graph_splitting_enabled"): "write graph_splitting_configs",
}


def harmful(file: ExtensionFile, platform: Platform | None = None) -> Iterator[Wrong]:
    """Yield what is taken, with harm; on a platform, what it does not have, too."""
    arch = architecture(file)
    if arch is None and platform is not None:
        arch = platform.arch
    for block in file.blocks:
        yield from _of_numbers(block)
        if block.section is Section.DEVICE:
            yield from _of_chip(block)
        elif block.section is Section.CORE:
            yield from _of_core(block, arch, platform)
        elif block.section is Section.GRAPH:
            yield from _llm_decode(block, arch)
    yield from _no_profile(file)
    yield from _excluding(file)


def _of_numbers(block: Block) -> Iterator[Wrong]:
    for member, key in block.members():
        if key is None:
            continue
        node = member.node
        if key.useful is not None and _is_number(node) and not key.useful.low <= node.value <= key.useful.high:
            said = f"{key.name} {node.value} is outside of {key.useful}, and is taken as it is. {key.note}".strip()
            yield Wrong("EXT-32", node, said, f"write a number from {key.useful}")
        if (block.section, key.name) in _DEPRECATED:
            yield Wrong("EXT-51", member, f"{key.name} is deprecated", _DEPRECATED[block.section, key.name])
        if key.since > OLDEST:
            version = ".".join(map(str, key.since))
            yield Wrong("EXT-52", member, f"{key.name} is known from QAIRT {version} on: an older one refuses the file")


def _is_number(node: Node) -> bool:
    return node.kind in (Kind.INTEGER, Kind.FRACTION)


def _of_chip(block: Block) -> Iterator[Wrong]:
    model, arch = block.get("soc_model"), block.get("dsp_arch")
    if model is None or arch is None or arch.kind is not Kind.TEXT:
        return
    for soc in SOCS:
        if soc.model == model.value and arch.value != f"v{soc.arch}":
            said = f"soc_model {soc.model} ({'/'.join(soc.names)}) is v{soc.arch}, and dsp_arch is {arch.value!r}"
            yield Wrong("EXT-35", arch, said, f'write "v{soc.arch}"')


def _of_core(block: Block, arch: int | None, platform: Platform | None) -> Iterator[Wrong]:
    ddr = block.get("ddr_perf_mode")
    if ddr is not None and ddr.value is True and (arch is None or arch < _DDR_FROM):
        where = "on a chip without it" if arch is None else f"on v{arch}, which has no such mode,"
        said = f"ddr_perf_mode {where} loses the raised votes with it: burst runs on the relaxed ones"
        yield Wrong("EXT-30", ddr, said, "leave it out, or name a chip of v81 or later in dsp_arch")
    if block.get("perf_profile") is None:
        said = "a core without perf_profile runs high_performance"
        yield Wrong("EXT-31", block.node, said, 'say so: "perf_profile": "high_performance"')
    if platform is not None and platform.os == "qnx":
        for name in _RPC_KEYS:
            node = block.get(name)
            if node is not None:
                yield Wrong("EXT-37", node, f"{name} does not exist on QNX", "leave it out")
    yield from _llm_decode(block, arch)


def _llm_decode(block: Block, arch: int | None) -> Iterator[Wrong]:
    profile = block.get("perf_profile")
    if profile is None or profile.kind is not Kind.TEXT or not profile.value.startswith(LLM_DECODE):
        return
    if arch is not None and arch < _LLM_FROM:
        said = f"{profile.value} on v{arch}: no raised vote is cast, and the run goes on with the relaxed ones"
        yield Wrong("EXT-36", profile, said, f"write {profile.value.removeprefix(LLM_DECODE)}")


def _no_profile(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield a file without any core: the tools then run high_performance, too."""
    top = file.of(Section.TOP)
    if top and not file.of(Section.CORE):
        said = "a file without cores: the vendor's tools run high_performance"
        at = top[0].get("devices") or top[0].node
        yield Wrong("EXT-31", at, said, 'say so in "cores": [{"perf_profile": "high_performance"}]')


def _excluding(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield settings of graphs and contexts that exclude each other."""
    graphs = file.of(Section.GRAPH)
    on = [name for name in ("dlbc", "dlbc_weights") for graph in graphs if _is_on(graph.get(name))]
    cores = any(_is_number(node) and node.value > 1 for graph in graphs if (node := graph.get("num_cores")))
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
                said = f"reference_weight_sharing_enabled with {what}: weights are not shared by reference then"
                yield Wrong("EXT-38", reference, said, "leave out one of the two")


def _is_on(node: Node | None) -> bool:
    return node is not None and _is_number(node) and bool(node.value > 0)

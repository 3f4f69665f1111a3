"""The settings of an extension file that do not affect votes, for comments in a profile that is imported from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable, shortened
from htppower.rules.socs import SOCS
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.keys import VOTE_SECTIONS, Section

if TYPE_CHECKING:
    from htppower.tools.extensions.extension_file import Block, ExtensionFile

# Keys that are voted, or that have their own sentence.
_TOLD = frozenset(
    {
        (Section.GRAPH, "perf_profile"),
        (Section.GRAPH, "graph_names"),
        (Section.CORE, "core_id"),
        (Section.CORE, "perf_profile"),
        (Section.CORE, "rpc_control_latency"),
        (Section.CORE, "rpc_polling_time"),
        (Section.CORE, "adaptive_polling_time"),
        (Section.CORE, "hmx_timeout_us"),
        (Section.CORE, "ddr_perf_mode"),
    }
)


def left_out_settings(file: ExtensionFile) -> tuple[str, ...]:
    """Return sentences about the settings that do not affect votes: the device of the file, and the rest."""
    of_device, others = [], []
    for block in file.blocks:
        if block.section in VOTE_SECTIONS:
            continue
        for member, key in block.members():
            if key is None:
                continue  # a remark covers it
            if (
                member.node.kind in (Kind.OBJECT, Kind.LIST)
                and member.node.plain()
                and _holds_blocks(file, block, member.key)
            ):
                continue
            if (block.section, member.key) in _TOLD:
                continue
            said = printable(shortened(file.text.text[member.node.start : member.node.end].replace("\n", " "), 40))
            if block.section is Section.DEVICE:
                of_device.append(f"{member.key} {said}{_soc(block, member.key)}")
            else:
                others.append(".".join((*block.at, member.key)))
    sentences = []
    if of_device:
        sentences.append(f"For the host, not for the profile: {', '.join(dict.fromkeys(of_device))}.")
    if others:
        sentences.append(f"Not about votes, and omitted: {', '.join(map(printable, others))}.")
    return tuple(sentences)


def _holds_blocks(file: ExtensionFile, block: Block, key: str) -> bool:
    below = (*block.at, key)
    return any(each.at[: len(below)] == below for each in file.blocks)


def _soc(block: Block, key: str) -> str:
    node = block.get(key)
    if key != "soc_model" or node is None:
        return ""
    names = [f" ({', '.join(soc.names)}, V{soc.arch})" for soc in SOCS if soc.model == node.value]
    return names[0] if names else ""

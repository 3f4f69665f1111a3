"""The keys of an extension file that state the votes of a core or graph, by the fields of a profile."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.extensions.clock_blocks import (
    DEINIT_DONE,
    DEINIT_START,
    EXPANDED_BY_NAME,
    INFERENCE_DONE,
    INFERENCE_START,
    INIT_DONE,
    INIT_START,
    PLAIN_BY_NAME,
)
from htppower.tools.extensions.keys import BESIDE, BLOCKS, UINT32, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Member
    from htppower.votes.vote_set import VoteSet

# The origin of the votes in force after a state: its own item, or the item of the nearest state before it.
_BEFORE_INFERENCES = (INIT_DONE, INIT_START)
FROM: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        INIT_START: (INIT_START,),
        INIT_DONE: (INIT_DONE, INIT_START),
        INFERENCE_START: (INFERENCE_START, INFERENCE_DONE, *_BEFORE_INFERENCES),
        INFERENCE_DONE: (INFERENCE_DONE, INFERENCE_START, *_BEFORE_INFERENCES),
        DEINIT_START: (DEINIT_START, INFERENCE_DONE, INFERENCE_START, *_BEFORE_INFERENCES),
        DEINIT_DONE: (DEINIT_DONE, DEINIT_START, INFERENCE_DONE, INFERENCE_START, *_BEFORE_INFERENCES),
    }
)
_LIMITS = (("Min", "min"), ("Target", "target"), ("Max", "max"))
# The fields of a vote by the keys of its block.
_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "enableDcvs": ("dcvs_enable",),
        "powerMode": ("power_mode",),
        "sleep_latency_us": ("sleep_latency_us",),
        "sleepDisable": ("sleep_disable",),
        "corePerfMode": ("core_perf_mode",),
        "busPerfMode": ("bus_perf_mode",),
        "hmxPickDefault": ("pick_default",),
        "hmxPerfMode": ("perf_mode",),
        "cengPerfMode": ("perf_mode",),
        **{f"{clock}VoltageCorner{end}": (clock, limit) for clock in ("bus", "core") for end, limit in _LIMITS},
        **{f"{clock}VoltageCorner{end}": (limit,) for clock in ("hmx", "ceng") for end, limit in _LIMITS},
    }
)


def origins(file: ExtensionFile, core: Block | None, state: str, *, custom: bool) -> dict[KeyPath, Member]:
    """Return the keys that state what is in force after a state of a graph, by the fields of a profile.

    With ``custom`` the core votes what its ``custom`` states. The votes of a named profile have no keys.
    """
    if core is None:
        return {}
    found: dict[KeyPath, Member] = {}
    if custom:
        found = dict(_of_custom(file, core, state))
    for member in reversed(core.node.members):
        if member.key in BESIDE and state in (INIT_START, INFERENCE_START, DEINIT_START):
            found["votes", BESIDE[member.key]] = member
        elif member.key == "hmxControl" and state in (INIT_START, INFERENCE_START, DEINIT_START):
            found.update(_of_block(member, "hmx_v2"))
    return found


def _of_custom(file: ExtensionFile, core: Block, state: str) -> Iterator[tuple[KeyPath, Member]]:
    below = (*core.at, "custom")
    for block in file.of(Section.CUSTOM_OBJECT, below):
        yield from _of_object(block, "start" if state.endswith("_start") else "done")
        yield from _sustain(file.of(Section.DCVS_OBJECT, block.at), "sustainVote")
    items = file.of(Section.CUSTOM_ITEM, below)
    yield from _sustain(items, "sustainInferencePerfState")
    # The matrix unit and the compression engine keep the votes that an item leaves out.
    chain = [item for each in FROM[state] for item in reversed(items) if _names(item, each)]
    for number, item in reversed(list(enumerate(chain))):
        for member in reversed(item.node.members):
            if member.key in BLOCKS and (number == 0 or not member.key.startswith("dcvs")):
                yield from _of_block(member, BLOCKS[member.key])


def _names(item: Block, state: str) -> bool:
    named = item.get("graphState")
    return named is not None and any(each.value == state for each in named.items)


def _sustain(blocks: tuple[Block, ...], key: str) -> Iterator[tuple[KeyPath, Member]]:
    for block in reversed(blocks):
        for member in block.node.members:
            if member.key == key:
                yield ("relax", "after_inference_us"), member


def _of_block(holder: Member, field: str) -> Iterator[tuple[KeyPath, Member]]:
    yield ("votes", field), holder
    for member in reversed(holder.node.members):
        if member.key in _FIELDS:
            yield ("votes", field, *_FIELDS[member.key]), member


def _of_object(block: Block, when: str) -> Iterator[tuple[KeyPath, Member]]:
    """Yield the keys of a custom object. Its corners have one value for the starts, and one for the dones."""
    for holder in block.node.members:
        if holder.key not in BLOCKS:
            continue
        yield from _of_block(holder, BLOCKS[holder.key])
        for member in holder.node.members:
            for part in member.node.members:
                if part.key == when and member.key in _FIELDS:
                    yield ("votes", BLOCKS[holder.key], *_FIELDS[member.key]), part


_POLLING = ("votes", "rpc_polling_time_us")


def as_written(votes: VoteSet, values: Mapping[KeyPath, Any]) -> VoteSet:
    """Return votes with the values that are sent as written, even if a profile can't state them.

    The vendor's voter sends polling times and sleep latencies outside the documented ranges, and corners out of order,
    as they are written (measured).
    """
    for at, written in values.items():
        value = _number(written)
        if at == _POLLING and value is not None and votes.rpc_polling_time_us is not None:
            votes = attrs.evolve(votes, rpc_polling_time_us=value)
        elif at[1:2] == (votes.hvx_field,) and votes.hvx is not None:
            votes = attrs.evolve(votes, **{votes.hvx_field: _clocks(votes.hvx, at[2:], written)})
    return votes


def _clocks(hvx: Any, at: KeyPath, written: Any) -> Any:
    """Return an HVX vote with one value as it is written."""
    value = _number(written)
    if at == ("sleep_latency_us",) and value is not None:
        return attrs.evolve(hvx, sleep_latency_us=value)
    if len(at) == 2:  # noqa: PLR2004 - a clock and its limit
        clock, limit = at
        names = PLAIN_BY_NAME if hasattr(hvx, "dcvs_enable") else EXPANDED_BY_NAME
        corner = names.get(str(written).partition("\0")[0])
        if corner is not None:
            return attrs.evolve(hvx, **{clock: attrs.evolve(getattr(hvx, clock), **{limit: corner})})
    return hvx


def _number(written: Any) -> int | None:
    is_number = isinstance(written, (int, float)) and not isinstance(written, bool)
    return int(written) if is_number and 0 <= written <= UINT32.high else None

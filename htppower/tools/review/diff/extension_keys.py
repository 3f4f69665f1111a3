"""The keys of an extension file: those that state votes, by the fields of a profile, and changes in all others."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import shortened
from htppower.profiles.fields import UNSET
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
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import BESIDE, BLOCKS, CORE_KEYS, UINT32, Section
from htppower.tools.extensions.one_core import cores_by_device, outvoted
from htppower.tools.review.diff.change import Cause, Change
from htppower.tools.review.diff.effects import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Member, Node
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
_LONGEST = 60
# The keys whose effect is reported as an effect of votes, and the keys that pair graphs.
_OF_VOTES = {
    Section.CORE: frozenset(CORE_KEYS),
    Section.GRAPH: frozenset({"perf_profile", "graph_names"}),
}
# The keys that hold lists of blocks. An empty list has no effect.
_HOLDERS = frozenset({(Section.TOP, "devices"), (Section.TOP, "graphs"), (Section.DEVICE, "cores")})


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


def changed_settings(name: str, old: ExtensionFile, new: ExtensionFile) -> Iterator[Change]:
    """Yield the settings that differ and send no vote, in the order of the new file, then the removed settings.

    They include votes of a core that a later core of its device overrides.
    """
    before, after = dict(_settings(old)), dict(_settings(new))
    for at in dict.fromkeys((*after, *before)):
        one, other = before.get(at), after.get(at)
        if (one is None and old.text.at(at) is not None) or (other is None and new.text.at(at) is not None):
            # One side sends a vote with this key, which is reported with the votes.
            continue
        # Texts of values are compared, since ``true`` is not 1.
        if one is not None and other is not None and repr(one.node.plain()) == repr(other.node.plain()):
            continue
        places = (_place(old, at, one), _place(new, at, other))
        cause = Cause(places[1]) if other is not None else Cause(places[0], removed=True)
        said = _said(old, one), _said(new, other)
        yield Change(name, "", ".".join(at), *said, Effect.NO_VOTE, places[1], places[0], cause)


def _settings(file: ExtensionFile) -> Iterator[tuple[KeyPath, Member]]:
    sections = {block.at: block.section for block in file.blocks}
    in_vain = {each.member.node.start for cores in cores_by_device(file).values() for each in outvoted(cores)}
    waiting: list[tuple[KeyPath, Node]] = [((), file.text.accepted())]
    while waiting:
        at, node = waiting.pop()
        of_votes = _OF_VOTES.get(sections[at], frozenset()) if at in sections else frozenset()
        told = set()
        for member in node.members:
            # If a key is given twice, the first counts.
            if member.key in told or (member.key in of_votes and member.node.start not in in_vain):
                continue
            told.add(member.key)
            below = (*at, member.key)
            items = [((*below, str(number)), item) for number, item in enumerate(member.node.items)]
            if any(key in sections for key, _ in items):
                waiting += [(key, item) for key, item in items if item.kind is Kind.OBJECT]
            elif member.node.kind is Kind.OBJECT and member.node.members:
                waiting.append((below, member.node))
            elif (file_section := sections.get(at)) is None or (file_section, member.key) not in _HOLDERS:
                yield below, member


def _place(file: ExtensionFile, at: KeyPath, member: Member | None) -> Any:
    """Return the place of a key. If the file lacks the key, return the nearest object that would hold it."""
    if member is not None:
        return file.place(member)
    node = None
    while at and node is None:
        at = at[:-1]
        node = file.text.at(at)
    return file.place(node if node is not None else file.text.accepted())


def _said(file: ExtensionFile, member: Member | None) -> str:
    if member is None:
        return UNSET
    return shortened(" ".join(file.text.text[member.node.start : member.node.end].split()), _LONGEST)

"""The votes of the profile ``custom``, in both of its forms, by graph state.

What holds in which state was measured by what the vendor's voter casts: of several items for one state the last is
cast; a state without an item, and an item without a clock, keep the votes before it; of several items that say whether
votes are sustained the last says it for all.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.extensions.clock_blocks import Blocks
from htppower.extensions.json_nodes import Kind
from htppower.extensions.keys import Section
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.extensions.extension_file import Block, ExtensionFile
    from htppower.extensions.remarks import Remark

INIT_START, INIT_DONE = "init_start", "init_done"
INFERENCE_START, INFERENCE_DONE = "inference_start", "inference_done"
DEINIT_START, DEINIT_DONE = "deinit_start", "deinit_done"
# The states in the order in which they come: of inferences there are many, and what is cast before one is in force
# after the one before.
_IN_ORDER = (
    INIT_START,
    INIT_DONE,
    INFERENCE_START,
    INFERENCE_DONE,
    INFERENCE_START,
    INFERENCE_DONE,
    DEINIT_START,
    DEINIT_DONE,
)
_STARTS = (INIT_START, INFERENCE_START, DEINIT_START)


@attrs.frozen
class CustomVotes:
    """What a custom profile votes.

    Attributes:
        cast: the votes cast in each state that has an item.
        in_force: the votes in force after each state; no votes where nothing was cast before.
        sustains: whether the votes stay up for 300 ms after the last inference.
        remarks: what of it no vote of ours can say.
    """

    cast: Mapping[str, VoteSet]
    in_force: Mapping[str, VoteSet]
    sustains: bool
    remarks: tuple[Remark, ...]


def custom_votes(file: ExtensionFile, core: Block) -> CustomVotes:
    """Return the votes of a core with ``custom``, which the vendor's parser takes."""
    reader = Blocks(file)
    below = (*core.at, "custom")
    items = file.of(Section.CUSTOM_ITEM, below)
    objects = file.of(Section.CUSTOM_OBJECT, below)
    cast: dict[str, VoteSet] = {}
    sustains = False
    for item in items:
        votes = reader.votes(item)
        named = item.get("graphState")
        cast.update({str(node.value): votes for node in (() if named is None else named.items)})
        sustains = _says(item, "sustainInferencePerfState", unless=sustains)
    for block in objects:
        raised, lowered = reader.start_and_done(block)
        cast.update({state: raised if state in _STARTS else lowered for state in _IN_ORDER})
        sustains = any(_says(each, "sustainVote", unless=False) for each in file.of(Section.DCVS_OBJECT, block.at))
    in_force, now = {}, VoteSet()
    for state in _IN_ORDER:
        now = _after(now, cast[state]) if state in cast else now
        in_force[state] = now
    return CustomVotes(MappingProxyType(cast), MappingProxyType(in_force), sustains, tuple(reader.remarks))


def _after(before: VoteSet, votes: VoteSet) -> VoteSet:
    """Return what is in force after votes: the clocks that they leave out stay."""
    hvx = votes if votes.hvx else before
    ceng = votes if votes.ceng or votes.ceng_exp else before
    hmx = votes.hmx_v2 or before.hmx_v2 or (HMX_DEFAULT if hvx.hvx else None)
    return VoteSet(hvx.dcvs_v3, hmx_v2=hmx, ceng=ceng.ceng, dcvs_v3_exp=hvx.dcvs_v3_exp, ceng_exp=ceng.ceng_exp)


def _says(block: Block, name: str, *, unless: bool) -> bool:
    """Return what a key says; what is given where it says nothing."""
    node: Any = block.get(name)
    return node.value if node is not None and node.kind is Kind.BOOL else unless

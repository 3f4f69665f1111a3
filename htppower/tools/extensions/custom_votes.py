"""The votes of the profile ``custom``, in both of its forms, by graph state.

The effect of each state was measured by the votes of the vendor's voter. If several items name one state, the last is
sent. A state without an item, and an item without a clock, keep the votes of the state before. If several items say
whether votes are sustained, the last decides for all states.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.extensions.clock_blocks import Blocks
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import Section
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.tools.extensions.extension_file import Block, ExtensionFile, Remark

INIT_START, INIT_DONE = "init_start", "init_done"
INFERENCE_START, INFERENCE_DONE = "inference_start", "inference_done"
DEINIT_START, DEINIT_DONE = "deinit_start", "deinit_done"
# The states in the order of a run. Inferences repeat, so votes before the second inference follow those after the
# first.
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
    """The votes of a custom profile.

    Attributes:
        cast: the votes sent in each state that has an item.
        in_force: the votes in force after each state; empty if nothing was sent before.
        sustains: whether the votes stay up for 300 ms after the last inference.
        remarks: settings that no vote here can express.
    """

    cast: Mapping[str, VoteSet]
    in_force: Mapping[str, VoteSet]
    sustains: bool
    remarks: tuple[Remark, ...]


def custom_votes(file: ExtensionFile, core: Block) -> CustomVotes:
    """Return the votes of a core with ``custom``, in a file that the vendor's parser accepts."""
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
    """Return the votes in force after other votes are sent: clocks without a new vote keep the old one."""
    hvx = votes if votes.hvx else before
    ceng = votes if votes.ceng or votes.ceng_exp else before
    hmx = votes.hmx_v2 or before.hmx_v2 or (HMX_DEFAULT if hvx.hvx else None)
    return VoteSet(hvx.dcvs_v3, hmx_v2=hmx, ceng=ceng.ceng, dcvs_v3_exp=hvx.dcvs_v3_exp, ceng_exp=ceng.ceng_exp)


def _says(block: Block, name: str, *, unless: bool) -> bool:
    """Return the value of a switch; without the key, the given default."""
    node: Any = block.get(name)
    return node.value if node is not None and node.kind is Kind.BOOL else unless

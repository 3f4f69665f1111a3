"""The clock blocks of a core as votes (DCVS, HMX and CENG), and the votes of ``custom`` by graph state.

The effect of each state was measured by the votes of the vendor's voter. If several items name one state, the last is
sent. A state without an item, and an item without a clock, keep the votes of the state before. If several items say
whether votes are sustained, the last decides for all states.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from htppower.tools.extensions.extension_file import Remark
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import DEFAULT_SLEEP_LATENCY_US, EXPANDED_CORNERS, Section
from htppower.votes.clock_votes import (
    HMX_DEFAULT,
    Ceng,
    CengExp,
    DcvsV3,
    DcvsV3Exp,
    ExpandedRange,
    HmxV2,
    VoltageRange,
)
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Node

_Corner = TypeVar("_Corner", VoltageCorner, ExpandedCorner)
_LIMITS = ("Min", "Target", "Max")
PLAIN_BY_NAME: Mapping[str, VoltageCorner] = MappingProxyType({corner.enumerator: corner for corner in VoltageCorner})
EXPANDED_BY_NAME: Mapping[str, ExpandedCorner] = MappingProxyType(
    dict(zip(EXPANDED_CORNERS, ExpandedCorner.__members__.values(), strict=True))
)
_MODES = {mode.enumerator: mode for mode in PowerMode}
_SLEEP = LIMITS[DcvsV3, "sleep_latency_us"]
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


class Blocks:
    """Turns blocks into votes, with remarks on settings that no vote here can express."""

    def __init__(self, file: ExtensionFile) -> None:
        self._file = file
        self.remarks: list[Remark] = []

    def votes(self, holder: Block) -> VoteSet:
        """Return the votes of an item or another block holder; if a clock has both forms, the expanded one counts."""
        parts = {block.section: block for block in self._file.blocks if block.read and block.at[:-1] == holder.at}
        plain, expanded = parts.get(Section.DCVS), parts.get(Section.DCVS_EXP)
        ceng, ceng_exp = parts.get(Section.CENG), parts.get(Section.CENG_EXP)
        hmx = parts.get(Section.HMX)
        return VoteSet(
            dcvs_v3=self._dcvs(plain) if plain is not None and expanded is None else None,
            dcvs_v3_exp=None if expanded is None else self._dcvs_exp(expanded),
            hmx_v2=None if hmx is None else self.hmx(hmx),
            ceng=self._ceng(ceng) if ceng is not None and ceng_exp is None else None,
            ceng_exp=None if ceng_exp is None else self._ceng_exp(ceng_exp),
        )

    def start_and_done(self, holder: Block) -> tuple[VoteSet, VoteSet]:
        """Return the votes of a custom object: first those for its starts, then those for its dones."""
        others = self.votes(holder)
        dcvs = next(iter(self._file.of(Section.DCVS_OBJECT, holder.at)), None)
        if dcvs is None:
            self._remark(holder.node, "custom without a dcvsControl of its own; its clock votes are omitted")
            return others, others
        rest = self._dcvs_but_corners(dcvs)
        pairs = {block.at[-1]: block for block in self._file.of(Section.CORNER_PAIR, dcvs.at)}
        found = []
        for when in ("start", "done"):
            ranges: dict[str, Any] = {}
            for clock in ("bus", "core"):
                blocks = [pairs.get(f"{clock}VoltageCorner{limit}") for limit in _LIMITS]
                names = ["" if block is None else block.word(when) for block in blocks]
                node = dcvs.node if blocks[0] is None else blocks[0].node
                ranges[clock] = VoltageRange(*self._plain(node, clock, names))
            found.append(attrs.evolve(others, dcvs_v3=DcvsV3(**rest, **ranges)))
        return found[0], found[1]

    def hmx(self, block: Block) -> HmxV2:
        """Return the vote of an ``hmxControl``."""
        if _number(block, "hmxPickDefault", 0):
            return HMX_DEFAULT
        if block.get("hmxVoltageCornerTarget") is None:
            self._remark(block.node, "the matrix unit's corners are missing; DISABLE is used instead")
        low, target, high = self._expanded_corners(block, "hmx")
        return HmxV2(low, target, high, self._perf_mode(block, "hmxPerfMode"))

    def _dcvs(self, block: Block) -> DcvsV3:
        bus, core = (VoltageRange(*self._plain_corners(block, clock)) for clock in ("bus", "core"))
        return DcvsV3(**self._dcvs_but_corners(block), bus=bus, core=core)

    def _dcvs_but_corners(self, block: Block) -> dict[str, Any]:
        # The voter always votes sleepDisable 0, on an id of its own, where nothing else is ever voted.
        return {"dcvs_enable": bool(_number(block, "enableDcvs", 1)), "sleep_disable": None, **self._sleep(block)}

    def _dcvs_exp(self, block: Block) -> DcvsV3Exp:
        bus, core = (ExpandedRange(*self._expanded_corners(block, clock)) for clock in ("bus", "core"))
        return DcvsV3Exp(
            sleep_disable=True if _number(block, "sleepDisable", 0) else None,
            bus=bus,
            core=core,
            core_perf_mode=self._perf_mode(block, "corePerfMode"),
            bus_perf_mode=self._perf_mode(block, "busPerfMode"),
            **self._sleep(block),
        )

    def _sleep(self, block: Block) -> dict[str, Any]:
        """Return power mode and sleep latency."""
        mode = block.word("powerMode")
        latency_us = _number(block, "sleep_latency_us", DEFAULT_SLEEP_LATENCY_US)
        node = block.get("sleep_latency_us")
        if node is not None and not _SLEEP.hold(latency_us):
            kept = min(max(latency_us, _SLEEP.low), _SLEEP.high)
            self._remark(node, f"a sleep latency of {latency_us} us, outside {_SLEEP} us; {kept} here")
            latency_us = kept
        return {"power_mode": _MODES.get(mode, PowerMode.POWER_SAVER), "sleep_latency_us": latency_us}

    def _ceng(self, block: Block) -> Ceng | None:
        if block.get("cengVoltageCornerMin") is None:
            # Only the object form of custom is accepted without them.
            self._remark(block.node, "cengControl without corners votes nothing; omitted")
            return None
        low, target, high = self._plain_corners(block, "ceng")
        return Ceng(low, target, high, self._perf_mode(block, "cengPerfMode"))

    def _ceng_exp(self, block: Block) -> CengExp:
        low, target, high = self._expanded_corners(block, "ceng")
        return CengExp(low, target, high, self._perf_mode(block, "cengPerfMode"))

    def _plain_corners(self, block: Block, clock: str) -> list[VoltageCorner]:
        return self._plain(block.node, clock, [block.word(f"{clock}VoltageCorner{limit}") for limit in _LIMITS])

    def _plain(self, node: Node, clock: str, names: list[str]) -> list[VoltageCorner]:
        """Return corners by name. In misplaced objects, the vendor's parser does not check that there are all three."""
        if not all(name in PLAIN_BY_NAME for name in names):
            self._remark(node, f"corners of the {clock} clock are missing; DISABLE is used instead")
        return self._ordered(node, [PLAIN_BY_NAME.get(name, VoltageCorner.DISABLE) for name in names])

    def _expanded_corners(self, block: Block, clock: str) -> list[ExpandedCorner]:
        names = (block.word(f"{clock}VoltageCorner{limit}") for limit in _LIMITS)
        return self._ordered(block.node, [EXPANDED_BY_NAME.get(name, ExpandedCorner.DISABLE) for name in names])

    def _ordered(self, node: Node, corners: list[_Corner]) -> list[_Corner]:
        """Return min, target and max sorted, since the vendor's parser does not check it. DISABLE stays in place."""
        voted = sorted(corner for corner in corners if corner.name != "DISABLE")
        if [corner for corner in corners if corner.name != "DISABLE"] == voted:
            return corners
        names = ", ".join(corner.name for corner in corners)
        self._remark(node, f"min, target and max are {names}, which is the wrong order; sorted here")
        kept = iter(voted)
        return [corner if corner.name == "DISABLE" else next(kept) for corner in corners]

    def _perf_mode(self, block: Block, name: str) -> ClkPerfMode:
        node = block.get(name)
        number = _number(block, name, 0)
        if node is None or number in ClkPerfMode.__members__.values():
            return ClkPerfMode(number)
        self._remark(node, f"{name} {number} has no meaning; HIGH here")
        return ClkPerfMode.HIGH

    def _remark(self, node: Node, says: str) -> None:
        remark = Remark(self._file.place(node), says)
        if remark not in self.remarks:
            self.remarks.append(remark)


def _number(block: Block, name: str, default: int) -> int:
    number = block.number(name)
    return default if number is None else number


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

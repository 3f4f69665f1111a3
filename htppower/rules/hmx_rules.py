"""The rules of the HMX vote: the matrix unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding
from htppower.rules.check_parts import disorder, hvx_at, hvx_to_state, resulting_hvx
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, Rule, my_votes, rule
from htppower.votes.corners import ExpandedCorner
from htppower.votes.options import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case
    from htppower.votes.clock_votes import HmxV2

_HMX = ("votes", "hmx_v2")
_WITH_HVX = (("votes", "dcvs_v3"), ("votes", "dcvs_v3_exp"), _HMX)
_HMX_VOTE = "hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: HIGH}"

_DISABLE = {"const": "DISABLE"}
_NO_TARGET = {**OBJECT, "properties": {"target": _DISABLE}, "required": ["target"]}
_NO_CORE = {**OBJECT, "properties": {"core": {"anyOf": [_DISABLE, _NO_TARGET]}}, "required": ["core"]}
_FOLLOWS = {"hmx_v2": {"if": OBJECT, "then": _NO_TARGET}}


# The default HMX vote needs no minimum architecture: it applies even if it is not sent (HMX-4).
@rule(
    "HMX-1",
    "Explicit HMX votes need Hexagon V75 or later.",
    Breach.DEGRADES,
    "vendor, HMX note 1; measured: 13004",
    why="Before V75 the HMX clock has no vote of its own: it follows the core clock, whatever the profile votes.",
    mend="Write hmx_v2: default if the profile also runs on older architectures.",
    wrong=my_votes(_HMX_VOTE),
    right=my_votes("hmx_v2: default"),
    lint=("--arch", "V73"),
    needs=(Needs.PLATFORM,),
    fields=(_HMX,),
)
def _architecture(case: Case) -> Iterator[Finding]:
    if _is_explicit(case.votes.hmx_v2) and case.platform is not None and not case.platform.has(Option.HMX_V2):
        message = f"no explicit HMX votes on Hexagon V{case.platform.arch}: the HMX clock follows the core clock"
        yield Finding("HMX-1", _HMX, message, f"{case.platform.needs(Option.HMX_V2)}, or hmx_v2: default")


_HVX_FIRST = Rule(
    "HMX-2",
    "The HVX vote is sent before the HMX vote on the same id, in the same call or an earlier one.",
    Breach.BY_CONSTRUCTION,
    "vendor, HMX note 2; measured: 13001",
    why="The library refuses an HMX vote on an id that has no HVX vote yet.",
    mend="There is nothing to mend.",
    said="Nothing in a file can break it: htppower sends the HVX vote first.",
    fields=_WITH_HVX,
    kept_by="votes are always sent in one order, the HVX vote first, also when a call is repeated vote by vote",
)


# For the library, a DCVS_V3 vote of DISABLE corners is enough, but for the DSP it is not an active vote.
@rule(
    "HMX-3",
    "There is no HMX vote without an active HVX vote on that id.",
    Breach.ERROR,
    "vendor, HMX notes 3 and 4; measured: 13001",
    why="The library refuses a vote on the HMX clock unless the HVX vote is active.",
    mend="Vote a core corner above DISABLE, or leave HMX at its default.",
    wrong=my_votes(f"dcvs_v3: {{core: DISABLE}}, {_HMX_VOTE}"),
    right=my_votes("dcvs_v3: {core: DISABLE}, hmx_v2: default"),
    needs=(Needs.FIELDS, Needs.IN_FORCE),
    fields=_WITH_HVX,
    schema=(
        IfThen({"dcvs_v3": UNSET}, {"hmx_v2": UNSET}, or_left_out={"dcvs_v3_exp": UNSET}),
        IfThen({"dcvs_v3": _NO_CORE}, _FOLLOWS),
        IfThen({"dcvs_v3_exp": _NO_CORE}, _FOLLOWS),
    ),
)
def _needs_hvx(case: Case) -> Iterator[Finding]:
    hmx, hvx = case.votes.hmx_v2, resulting_hvx(case)
    if hmx is not None and hvx is None:
        message = "an HMX vote without an HVX vote on the id"
        hint = f"state {hvx_to_state(case)}, or hmx_v2: unset"
        yield Finding("HMX-3", _HMX, message, hint, also=(hvx_at(case),))
    elif _asks(hmx) and hvx is not None and not hvx.active:
        message = "an explicit HMX vote while the HVX vote is DISABLE"
        hint = "vote a core target, or hmx_v2: default"
        yield Finding("HMX-3", _HMX, message, hint, also=((*hvx_at(case), "core"),))


_DEFAULT = Rule(
    "HMX-4",
    "Without an HMX vote, the default (pick default) applies.",
    Breach.BY_CONSTRUCTION,
    "vendor, HMX note 5",
    why="An id that has never had an HMX vote runs HMX with its core clock.",
    mend="There is nothing to mend.",
    said="Nothing in a file can break it: hmx_v2: unset sends nothing.",
    kept_by="an unset hmx_v2 sends nothing, and the DSP's default is pick default",
    fields=(_HMX,),
)


@rule(
    "HMX-5",
    "An explicit HMX vote stays until pick default is voted: lowering and every later profile must state an HMX vote.",
    Breach.BY_CONSTRUCTION,
    "vendor, HMX note 6",
    why=(
        "An explicit HMX vote stays in force after its profile is lowered: a power state without an HMX vote would "
        "leave the matrix unit up."
    ),
    mend="There is nothing to mend in a file; in calls of your own, send the HMX default (pick default).",
    said="Nothing in a file can break it: htppower adds the default to votes that leave HMX out.",
    kept_by="the ledger adds pick default to a set that does not replace an explicit HMX vote",
    needs=(Needs.IN_FORCE,),
    fields=(_HMX,),
)
def _reverted(case: Case) -> Iterator[Finding]:
    if case.in_force is not None and _is_explicit(case.in_force.hmx_v2) and case.votes.hmx_v2 is None:
        message = "an explicit HMX vote is in force and this set neither replaces nor reverts it"
        yield Finding("HMX-5", _HMX, message, "hmx_v2: default")


# If the set has an HVX vote, it gives the id a valid HVX vote itself.
@rule(
    "HMX-6",
    "Changing or reverting the HMX vote is valid while the id has a valid HVX vote.",
    Breach.ERROR,
    "vendor, HMX note 7",
    why="The library refuses to change or revert an HMX vote on an id whose HVX vote is gone or DISABLE.",
    mend="Send the HVX vote in the same call.",
    said="A call with only another hmx_v2, on an id whose HVX vote is DISABLE. No file leads to one.",
    needs=(Needs.IN_FORCE,),
    fields=(_HMX,),
)
def _change(case: Case) -> Iterator[Finding]:
    if case.in_force is None or case.in_force.hmx_v2 is None or case.votes.hvx is not None:
        return
    hvx = case.in_force.hvx
    if case.votes.hmx_v2 not in (None, case.in_force.hmx_v2) and (hvx is None or not hvx.active):
        message = "the HMX vote is changed on an id without a valid HVX vote"
        yield Finding("HMX-6", _HMX, message, "send DCVS_V3 in the same call")


_DESTROYED = Rule(
    "HMX-7",
    "Destroying the id removes every vote on it, HMX included.",
    Breach.BY_CONSTRUCTION,
    "vendor, HMX note 8",
    why="A destroyed id has no votes, so closing a session removes all its votes.",
    mend="There is nothing to mend.",
    said="Nothing in a file can break it: session.close() destroys the ids.",
    kept_by="closing a session destroys its ids, and the ledger forgets these ids",
    fields=(_HMX,),
)


@rule(
    "HMX-8",
    "HMX corners are expanded corners with min <= target <= max.",
    Breach.ERROR,
    "measured: 13001 for legacy corners from QAIRT 2.50 on",
    why=(
        "HMX knows expanded corners only, and limits that contradict each other can't all be kept. Libraries from "
        "QAIRT 2.50 on refuse plain corners."
    ),
    mend="Name expanded corners (htppower explain TUR), lowest first.",
    wrong=my_votes("hmx_v2: {min: TUR, target: NOM, max: TUR, perf_mode: HIGH}"),
    right=my_votes(_HMX_VOTE),
    fields=(_HMX,),
)
def _order(case: Case) -> Iterator[Finding]:
    hmx = case.votes.hmx_v2
    if hmx is None:
        return
    corners = (hmx.min, hmx.target, hmx.max)
    if None in corners:
        return  # Another finding reports a corner that can't be read.
    if not all(isinstance(corner, ExpandedCorner) for corner in corners):
        message = f"the HMX corners are {' / '.join(corner.name for corner in corners)}"
        yield Finding("HMX-8", _HMX, message, "expanded corners, such as TUR")
        return
    said, hint = ("", "") if hmx.pick_default else disorder(hmx)
    if said:
        yield Finding("HMX-8", _HMX, f"HMX {said}", hint)


def _is_explicit(hmx: HmxV2 | None) -> bool:
    return hmx is not None and not hmx.pick_default


def _asks(hmx: HmxV2 | None) -> bool:
    """Return whether an explicit vote asks for any speed; some of the vendor's llm_decode profiles do not."""
    return hmx is not None and not hmx.pick_default and hmx.target is not ExpandedCorner.DISABLE

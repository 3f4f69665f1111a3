"""The rules of votes on the compression engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import Finding
from htppower.rules.check_parts import both_forms, disorder, hvx_at, hvx_to_state, in_any_form, missing, resulting_hvx
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, my_votes, rule
from htppower.votes.options import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case

_CENG = (("votes", "ceng"), ("votes", "ceng_exp"))
_CENG_VOTE = "ceng: {min: SVS, target: NOM, max: NOM, perf_mode: HIGH}"
_CENG_EXP_VOTE = "ceng_exp: {min: SVS, target: NOM, max: NOM, perf_mode: HIGH}"


@rule(
    "CENG-1",
    "CENG votes need Hexagon V75 or later; in expanded corners, V85 or later.",
    Breach.DEGRADES,
    "vendor, CENG note 1, CENG_EXP note 1; measured: 13004, on V89 too",
    why="Older architectures have no vote on the compression engine: it stays at its lowest corner.",
    mend="Leave ceng out if the profile also runs on older architectures.",
    wrong=my_votes(_CENG_VOTE),
    right=my_votes("ceng: unset"),
    lint=("--arch", "V73"),
    needs=(Needs.PLATFORM,),
    fields=_CENG,
)
def _architecture(case: Case) -> Iterator[Finding]:
    yield from missing(case, "CENG-1", "the compression engine stays at its lowest corner")


# Like an HMX vote with corners, a CENG vote has no effect next to an HVX vote of DISABLE. Next to a bus vote alone it
# does have an effect: the vendor's llm_decode_low_power_saver is such a vote set.
@rule(
    "CENG-2",
    "There is no CENG vote without an active HVX vote on that id.",
    Breach.ERROR,
    "vendor, CENG notes 3 and 4; measured: 13001",
    why="The library refuses a vote on the compression engine unless the HVX vote is active.",
    mend="Vote a core or bus corner above DISABLE, or leave ceng unset.",
    wrong=my_votes(f"dcvs_v3: {{core: DISABLE, bus: DISABLE}}, {_CENG_VOTE}"),
    right=my_votes(f"dcvs_v3: {{core: NOM}}, {_CENG_VOTE}"),
    needs=(Needs.FIELDS, Needs.IN_FORCE),
    fields=(("votes", "dcvs_v3_exp"), *_CENG),
    schema=(IfThen({"dcvs_v3": UNSET}, {"ceng": UNSET, "ceng_exp": UNSET}, or_left_out={"dcvs_v3_exp": UNSET}),),
)
def _needs_hvx(case: Case) -> Iterator[Finding]:
    hvx = resulting_hvx(case)
    for about, vote in in_any_form(case.votes, Option.CENG):
        at = ("votes", about.field)
        if hvx is None:
            message = "a CENG vote without an HVX vote on the id"
            hint = f"state {hvx_to_state(case)}, or {about.field}: unset"
            yield Finding("CENG-2", at, message, hint, also=(hvx_at(case),))
        elif not hvx.active and not _asks(hvx.bus) and _asks(vote) and vote != about.taken_back:
            message = "a CENG vote while the HVX vote is DISABLE"
            hint = f"vote a core or bus target, or {about.field}: unset"
            yield Finding("CENG-2", at, message, hint, also=((*hvx_at(case), "core"),))


@rule(
    "CENG-3",
    "The CENG vote has one form: ceng or ceng_exp.",
    Breach.ERROR,
    "vendor, CENG_EXP note 4; measured: 13001 in one call",
    why="Both forms vote on the same clock, and the library refuses the two in one call.",
    mend="Leave one of them unset.",
    wrong=my_votes(f"{_CENG_VOTE}, {_CENG_EXP_VOTE}"),
    right=my_votes(_CENG_VOTE),
    needs=(Needs.FIELDS,),
    fields=_CENG,
    schema=(IfThen({"ceng": OBJECT}, {"ceng_exp": UNSET}),),
)
def _one_form(case: Case) -> Iterator[Finding]:
    yield from both_forms("CENG-3", case.votes, Option.CENG, "the CENG vote")


@rule(
    "CENG-4",
    "CENG corners keep min <= target <= max in corner order, except for DISABLE.",
    Breach.ERROR,
    "HAP_power; measured: the library does not check it",
    why=(
        "Limits that contradict each other can't all be kept. The library accepts them and does not report which it "
        "drops."
    ),
    mend="Put the corners in order, lowest first.",
    wrong=my_votes("ceng: {min: NOM, target: SVS, max: NOM, perf_mode: HIGH}"),
    right=my_votes(_CENG_VOTE),
    fields=_CENG,
)
def _order(case: Case) -> Iterator[Finding]:
    for about, vote in in_any_form(case.votes, Option.CENG):
        said, hint = disorder(vote)
        if said:
            yield Finding("CENG-4", ("votes", about.field), f"CENG {said}", hint)


def _asks(clock: Any) -> bool:
    """Return whether a vote on a clock asks for any speed."""
    return clock is not None and clock.target is not None and clock.target.name != "DISABLE"

"""The rules of the HVX vote: core and bus clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding
from htppower.rules.check_parts import both_forms, disorder, in_any_form, missing
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, my_votes, rule
from htppower.votes.clock_votes import DcvsV3
from htppower.votes.options import Option
from htppower.votes.vote_set import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.rules.case import Case

_HVX = ("votes", "dcvs_v3")
_EXP = ("votes", "dcvs_v3_exp")
_EXPANDED_VOTE = (
    "dcvs_v3_exp: {power_mode: PERFORMANCE, sleep_latency_us: 40, sleep_disable: unset, bus: TUR_L1, core: TUR_L1, "
    "core_perf_mode: HIGH, bus_perf_mode: HIGH}"
)


def _of_both(name: str) -> tuple[KeyPath, ...]:
    """Return the keys of a field of the HVX vote in both of its forms."""
    return (*_HVX, name), (*_EXP, name)


@rule(
    "DCVS-1",
    "The sleep latency is 10 to 65535 us.",
    Breach.ERROR,
    "HAP_power",
    why="The DSP uses another latency instead of one outside this range, so the profile would be wrong.",
    mend="State 10 to 65535 us; 65535 means no limit: the DSP may sleep as deeply as it likes.",
    wrong=my_votes("dcvs_v3: {sleep_latency_us: 5}"),
    right=my_votes("dcvs_v3: {sleep_latency_us: 40}"),
    fields=_of_both("sleep_latency_us"),
)
def _sleep_latency(case: Case) -> Iterator[Finding]:
    limits = LIMITS[DcvsV3, "sleep_latency_us"]
    for about, hvx in in_any_form(case.votes, Option.DCVS_V3):
        if hvx.sleep_latency_us is not None and not limits.hold(hvx.sleep_latency_us):
            message = f"the sleep latency is {hvx.sleep_latency_us} us"
            hint = f"{limits}; {limits.high} tolerates any latency"
            yield Finding("DCVS-1", ("votes", about.field, "sleep_latency_us"), message, hint)


@rule(
    "DCVS-2",
    "Core and bus corners keep min <= target <= max in corner order, except for DISABLE.",
    Breach.ERROR,
    "HAP_power; measured: the library does not check it",
    why=(
        "Limits that contradict each other can't all be kept. The library accepts them and does not report which it "
        "drops."
    ),
    mend="Put the corners in order, lowest first.",
    wrong=my_votes("dcvs_v3: {core: {min: TURBO, target: NOM, max: TURBO}}"),
    right=my_votes("dcvs_v3: {core: {min: NOM, target: NOM, max: TURBO}}"),
    fields=(*_of_both("bus"), *_of_both("core")),
)
def _order(case: Case) -> Iterator[Finding]:
    for about, hvx in in_any_form(case.votes, Option.DCVS_V3):
        for clock in ("bus", "core"):
            corners = getattr(hvx, clock)
            said, hint = ("", "") if corners is None else disorder(corners)
            if said:
                yield Finding("DCVS-2", ("votes", about.field, clock), f"{clock} {said}", hint)


@rule(
    "DCVS-3",
    "The power mode acts only if dcvs_enable is true.",
    Breach.NOTE,
    "HAP_power",
    why="With DCVS off the clocks stay at their target, so the power mode has no effect.",
    mend="Leave it as a reminder, or let DCVS move the clocks.",
    wrong=my_votes("dcvs_v3: {dcvs_enable: false, power_mode: POWER_SAVER}"),
    right=my_votes("dcvs_v3: {dcvs_enable: true, power_mode: POWER_SAVER}"),
    lint=("--notes",),
    needs=(Needs.FIELDS,),
    fields=((*_HVX, "dcvs_enable"), (*_HVX, "power_mode")),
)
def _power_mode(case: Case) -> Iterator[Finding]:
    dcvs = case.votes.dcvs_v3
    if dcvs is not None and dcvs.dcvs_enable is False:
        message = f"power mode {dcvs.power_mode.name} does nothing while dcvs_enable is false"
        yield Finding("DCVS-3", (*_HVX, "power_mode"), message)


@rule(
    "DCVS-4",
    "A sleep_disable that a profile sets is cleared by each of its power states.",
    Breach.ERROR,
    "HAP_power: a field stays until a vote changes it",
    why=(
        "A field of an HVX vote stays until a vote changes it. A DSP that can't sleep any more drains the battery long"
        " after the last inference."
    ),
    mend="Leave sleep_disable unset, or relax to power states that set it to false.",
    wrong=my_votes("dcvs_v3: {sleep_disable: true}"),
    right=my_votes("dcvs_v3: {sleep_disable: unset}"),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(*_of_both("sleep_disable"), ("relax", "to"), ("relax", "after_deinit_to")),
)
def _sleep_disable_cleared(case: Case) -> Iterator[Finding]:
    hvx = case.votes.hvx
    if hvx is None or not hvx.sleep_disable:
        return
    left = [at for at, votes in case.lowered if votes.hvx is None or votes.hvx.sleep_disable is not False]
    if left:
        yield Finding(
            "DCVS-4",
            left[0],
            "the profile sets sleep_disable and its power state does not clear it",
            f"{' and '.join(at[-1] for at in left)}: a power state with sleep_disable: false",
            also=(*left[1:], ("votes", case.votes.hvx_field, "sleep_disable")),
        )


@rule(
    "DCVS-5",
    "The HVX vote has one form: dcvs_v3 or dcvs_v3_exp.",
    Breach.ERROR,
    "vendor, DCVS_V3_EXP note 5; measured: 13001 in one call",
    why="Both forms vote on the same clocks, and the library refuses the two in one call.",
    mend="Leave one of them unset.",
    wrong=my_votes(_EXPANDED_VOTE),
    right=my_votes(f"dcvs_v3: unset, {_EXPANDED_VOTE}"),
    needs=(Needs.FIELDS,),
    fields=(_EXP,),
    schema=(IfThen({"dcvs_v3": OBJECT}, {"dcvs_v3_exp": UNSET}),),
)
def _one_form(case: Case) -> Iterator[Finding]:
    yield from both_forms("DCVS-5", case.votes, Option.DCVS_V3, "the HVX vote")


@rule(
    "DCVS-6",
    "HVX votes in expanded corners need Hexagon V85 or later.",
    Breach.DEGRADES,
    "vendor, DCVS_V3_EXP note 1; measured: 13004",
    why=(
        "Older architectures do not know expanded corners for HVX. The nearest plain vote is sent instead, which may "
        "be lower."
    ),
    mend="Vote by dcvs_v3 if the profile also runs on older architectures.",
    wrong=my_votes(f"dcvs_v3: unset, {_EXPANDED_VOTE}"),
    right=my_votes("dcvs_v3: {core: TURBO}"),
    lint=("--arch", "V81"),
    needs=(Needs.PLATFORM,),
    fields=(_EXP,),
)
def _architecture(case: Case) -> Iterator[Finding]:
    yield from missing(case, "DCVS-6", "the nearest DCVS_V3 vote is sent instead")

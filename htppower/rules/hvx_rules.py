"""The rules of the HVX vote: core and bus clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding
from htppower.rules.check_parts import both_forms, disorder, in_any_form, missing
from htppower.rules.rule import Breach, Needs, rule
from htppower.votes.clock_votes import DcvsV3
from htppower.votes.option import Option
from htppower.votes.vote_set import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.rules.case import Case

_HVX = ("votes", "dcvs_v3")
_EXP = ("votes", "dcvs_v3_exp")


def _of_both(name: str) -> tuple[KeyPath, ...]:
    """Return the keys of a field of the HVX vote in both of its forms."""
    return (*_HVX, name), (*_EXP, name)


@rule(
    "DCVS-1",
    "The sleep latency is 10 to 65535 us.",
    Breach.ERROR,
    "HAP_power",
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
    needs=(Needs.FIELDS,),
    fields=(_EXP,),
)
def _one_form(case: Case) -> Iterator[Finding]:
    yield from both_forms("DCVS-5", case.votes, Option.DCVS_V3, "the HVX vote")


@rule(
    "DCVS-6",
    "HVX votes in expanded corners need Hexagon V85 or later.",
    Breach.DEGRADES,
    "vendor, DCVS_V3_EXP note 1; measured: 13004",
    needs=(Needs.PLATFORM,),
    fields=(_EXP,),
)
def _architecture(case: Case) -> Iterator[Finding]:
    yield from missing(case, "DCVS-6", "the nearest DCVS_V3 vote is cast")


HVX_RULES = (_sleep_latency, _order, _power_mode, _sleep_disable_cleared, _one_form, _architecture)

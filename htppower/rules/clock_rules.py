"""The rules of votes on clocks: core and bus, the matrix unit, the compression engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules import ceng_checks, vote_checks
from htppower.rules.rule import Breach, Needs, Rule

if TYPE_CHECKING:
    from htppower.errors import Path

_HVX = ("votes", "dcvs_v3")
_EXP = ("votes", "dcvs_v3_exp")
_HMX = ("votes", "hmx_v2")
_CENG = (("votes", "ceng"), ("votes", "ceng_exp"))


def _of_both(name: str) -> tuple[Path, ...]:
    """Return a field of the HVX vote in both of its forms."""
    return (*_HVX, name), (*_EXP, name)


CLOCK_RULES = (
    Rule(
        "DCVS-1",
        "The sleep latency is 10 to 65535 us.",
        Breach.ERROR,
        "HAP_power",
        vote_checks.sleep_latency,
        fields=_of_both("sleep_latency_us"),
    ),
    Rule(
        "DCVS-2",
        "Core and bus corners keep min <= target <= max in corner order, DISABLE aside.",
        Breach.ERROR,
        "HAP_power; measured: the library does not check it",
        vote_checks.clock_order,
        fields=(*_of_both("bus"), *_of_both("core")),
    ),
    Rule(
        "DCVS-3",
        "The power mode acts only with dcvs_enable true.",
        Breach.NOTE,
        "HAP_power",
        vote_checks.power_mode,
        needs=(Needs.FIELDS,),
        fields=((*_HVX, "dcvs_enable"), (*_HVX, "power_mode")),
    ),
    Rule(
        "DCVS-4",
        "A sleep_disable that a profile sets is cleared by its power state.",
        Breach.ERROR,
        "HAP_power: a field stays until a vote changes it",
        vote_checks.sleep_disable_cleared,
        needs=(Needs.FIELDS, Needs.PROFILE),
        fields=(*_of_both("sleep_disable"), ("relax", "to")),
    ),
    Rule(
        "DCVS-5",
        "There is one HVX vote: dcvs_v3 or dcvs_v3_exp.",
        Breach.ERROR,
        "vendor, DCVS_V3_EXP note 5; measured: 13001 in one call",
        vote_checks.one_hvx_form,
        needs=(Needs.FIELDS,),
        fields=(_EXP,),
    ),
    Rule(
        "DCVS-6",
        "HVX votes in expanded corners need Hexagon V85 or later.",
        Breach.DEGRADES,
        "vendor, DCVS_V3_EXP note 1; measured: 13004",
        vote_checks.expanded_architecture,
        needs=(Needs.PLATFORM,),
        fields=(_EXP,),
    ),
    Rule(
        "HMX-1",
        "Explicit HMX votes need Hexagon V75 or later.",
        Breach.DEGRADES,
        "vendor, HMX note 1; measured: 13004",
        vote_checks.hmx_architecture,
        needs=(Needs.PLATFORM,),
        fields=(_HMX,),
    ),
    Rule(
        "HMX-2",
        "The HVX vote comes first, on the same id, in the same call or before.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 2; measured: 13001",
        fields=(_HVX, _EXP, _HMX),
        kept_by="votes are sent in one order, the HVX vote first, also where a call is made again vote by vote",
    ),
    Rule(
        "HMX-3",
        "There is no HMX vote without an active HVX vote on that id.",
        Breach.ERROR,
        "vendor, HMX notes 3 and 4; measured: 13001",
        vote_checks.hmx_needs_hvx,
        needs=(Needs.FIELDS, Needs.IN_FORCE),
        fields=(_HVX, _EXP, _HMX),
    ),
    Rule(
        "HMX-4",
        "Where no HMX vote is given, the default (pick default) applies.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 5",
        kept_by="an unset hmx_v2 sends nothing, and the DSP's default is pick default",
        fields=(_HMX,),
    ),
    Rule(
        "HMX-5",
        "An explicit HMX vote stays until pick default is voted: lowering and every later profile must say which.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 6",
        vote_checks.hmx_reverted,
        kept_by="the ledger adds pick default to a set that leaves an explicit HMX vote unsaid",
        needs=(Needs.IN_FORCE,),
        fields=(_HMX,),
    ),
    Rule(
        "HMX-6",
        "Changing or reverting the HMX vote is valid while the id has a valid HVX vote.",
        Breach.ERROR,
        "vendor, HMX note 7",
        vote_checks.hmx_change,
        needs=(Needs.IN_FORCE,),
        fields=(_HMX,),
    ),
    Rule(
        "HMX-7",
        "Destroying the id removes every vote on it, HMX included.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 8",
        kept_by="closing a session destroys its ids, and the ledger drops all it knew of them",
        fields=(_HMX,),
    ),
    Rule(
        "HMX-8",
        "HMX corners are expanded corners with min <= target <= max.",
        Breach.ERROR,
        "measured: legacy corners are 13001 from QAIRT 2.50 on",
        vote_checks.hmx_order,
        fields=(_HMX,),
    ),
    Rule(
        "CENG-1",
        "CENG votes need Hexagon V75 or later, those in expanded corners V85.",
        Breach.DEGRADES,
        "vendor, CENG note 1, CENG_EXP note 1; measured: 13004, on V89 too",
        ceng_checks.architecture,
        needs=(Needs.PLATFORM,),
        fields=_CENG,
    ),
    Rule(
        "CENG-2",
        "There is no CENG vote without an active HVX vote on that id.",
        Breach.ERROR,
        "vendor, CENG notes 3 and 4; measured: 13001",
        ceng_checks.needs_hvx,
        needs=(Needs.FIELDS, Needs.IN_FORCE),
        fields=(_EXP, *_CENG),
    ),
    Rule(
        "CENG-3",
        "There is one CENG vote: ceng or ceng_exp.",
        Breach.ERROR,
        "vendor, CENG_EXP note 4; measured: 13001 in one call",
        ceng_checks.one_form,
        needs=(Needs.FIELDS,),
        fields=_CENG,
    ),
    Rule(
        "CENG-4",
        "CENG corners keep min <= target <= max in corner order, DISABLE aside.",
        Breach.ERROR,
        "HAP_power; measured: the library does not check it",
        ceng_checks.order,
        fields=_CENG,
    ),
)

"""The validity rules of votes: a table of ids, each with a pure function over a case.

``RULES`` is the table; ``check`` runs it. A case is a vote set, and, where they are known, the platform, what is in
force on the id, and the profile around the votes. Sources are named per rule: "vendor" is the QNN HTP backend page
("Performance Infrastructure API", "HMX Power Settings"), "HAP_power" the Hexagon SDK's page of that name, "measured"
an answer of the real library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules import relax_checks, vote_checks
from htppower.rules.case import Applied, ValidityRow
from htppower.rules.clock_rules import CLOCK_RULES
from htppower.rules.rule import Breach, Needs, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.errors import Finding
    from htppower.rules.case import Case

_LATENCY = ("votes", "rpc_control_latency_us")
_POLLING = ("votes", "rpc_polling_time_us")
_ADAPTIVE = ("votes", "adaptive_polling_time_us")
_TO = ("relax", "to")
_SUSTAIN = ("relax", "after_inference_us")

_IN_TABLE = (
    *CLOCK_RULES,
    Rule(
        "RPC-1",
        "The RPC polling time is 0 to 9999 us.",
        Breach.ERROR,
        "vendor",
        vote_checks.polling_range,
        fields=(_POLLING,),
    ),
    Rule(
        "RPC-2",
        "Adaptive polling needs polling on.",
        Breach.ERROR,
        "vendor",
        vote_checks.adaptive_needs_polling,
        needs=(Needs.FIELDS,),
        fields=(_POLLING, _ADAPTIVE),
    ),
    Rule(
        "RPC-3",
        "Adaptive polling is not for models under 1 ms.",
        Breach.WARNING,
        "vendor",
        vote_checks.adaptive_threshold,
        fields=(_ADAPTIVE,),
    ),
    Rule(
        "RPC-4",
        "RPC latency and polling do not exist on QNX.",
        Breach.DEGRADES,
        "vendor",
        vote_checks.rpc_platform,
        needs=(Needs.PLATFORM,),
        fields=(_LATENCY, _POLLING, _ADAPTIVE),
    ),
    Rule(
        "RPC-5",
        "A control latency of 1 to 199 us is latency critical, of 200 us and more moderate; 0 is no vote, and can't "
        "take an earlier one back.",
        Breach.NOTE,
        "Hexagon SDK, FastRPC",
        vote_checks.control_latency,
        fields=(_LATENCY,),
    ),
    Rule(
        "RPC-6",
        "Polling is for burst, sustained_high_performance and high_performance.",
        Breach.WARNING,
        "vendor, profiles table",
        vote_checks.polling_profile,
        needs=(Needs.PROFILE,),
        fields=(_POLLING,),
    ),
    Rule(
        "TMR-1",
        "The HMX timeout is 100 to 1000000 us.",
        Breach.ERROR,
        "measured: 13001 outside",
        vote_checks.hmx_timeout,
        fields=(("votes", "hmx_timeout_us"),),
    ),
    Rule(
        "DDR-1",
        "The DDR performance mode needs every bus corner at MAX_VOLTAGE_CORNER, and Hexagon V81 or later.",
        Breach.ERROR,
        "QnnHtpPerfInfrastructure.h, SDK 2.48",
        vote_checks.ddr_perf_mode,
        needs=(Needs.FIELDS, Needs.PLATFORM),
        fields=(("votes", "dcvs_v3", "bus"), ("votes", "dcvs_v3_exp", "bus"), ("votes", "ddr_perf_mode")),
    ),
    Rule(
        "SUS-1",
        "A sustain time is 0, or 20000 us or more: a timer can't keep a shorter one under load.",
        Breach.WARNING,
        "measured: 19 ms late at p99 beside one busy thread",
        relax_checks.short_sustain,
        needs=(Needs.PROFILE,),
        fields=(("relax", "after_init_us"), _SUSTAIN),
    ),
    Rule(
        "SUS-2",
        "A profile with votes names the state it relaxes to.",
        Breach.ERROR,
        "vendor, profiles table",
        relax_checks.names_power_state,
        needs=(Needs.FIELDS, Needs.PROFILE),
        fields=(("relax",), _TO),
    ),
    Rule(
        "SUS-3",
        "Lowering in the background acts only where the sustain time is 0: a timer is off the caller's thread anyway.",
        Breach.NOTE,
        "the sustain timer's thread is the controller's own",
        relax_checks.background_lowering,
        needs=(Needs.FIELDS, Needs.PROFILE),
        fields=(_SUSTAIN, ("relax", "lowering")),
    ),
)

RULES = {rule.id: rule for rule in _IN_TABLE}

# The vendor's table of HVX and HMX votes ("HMX Power Settings"). pick_default None: not applicable.
HVX_HMX_VALIDITY = (
    ValidityRow(hvx=Applied.APPLIED, hmx=Applied.APPLIED, pick_default=False, valid=True),
    ValidityRow(hvx=Applied.NONE, hmx=Applied.APPLIED, pick_default=None, valid=False),
    ValidityRow(hvx=Applied.APPLIED, hmx=Applied.NONE, pick_default=True, valid=True),
    ValidityRow(hvx=Applied.REMOVED, hmx=Applied.REMOVED, pick_default=None, valid=True),
)


def ids(which: Callable[[Rule], bool]) -> tuple[str, ...]:
    """Return the ids of the rules of which this is so, in the order of the table."""
    return tuple(rule.id for rule in RULES.values() if which(rule))


_REFUSING = ids(lambda rule: rule.refuses)


def check(case: Case, ids: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """Return every breach of the rules in this case, in the order of the table.

    Args:
        case: the votes, and what is known around them.
        ids: check these rules only.
    """
    chosen = RULES.values() if ids is None else (RULES[rule_id] for rule_id in ids)
    return tuple(finding for rule in chosen for finding in rule.breaches(case))


def errors(case: Case) -> tuple[Finding, ...]:
    """Return the breaches for which a vote set is refused."""
    return check(case, _REFUSING)


def is_valid(hvx: Applied, hmx: Applied) -> bool:
    """Return what the vendor's validity table says of an HVX and an explicit HMX vote on one id.

    Combinations that the table leaves out (an HMX vote that outlives its HVX vote) are invalid.
    """
    return any(row.valid for row in HVX_HMX_VALIDITY if (row.hvx, row.hmx) == (hvx, hmx))

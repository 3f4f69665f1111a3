"""The validity rules of votes: a table of ids, each with a pure function over a case.

``RULES`` is the table; ``check`` runs it. A case is a vote set, and, where they are known, the platform, what is in
force on the id, and the profile around the votes. Sources are named per rule: "vendor" is the QNN HTP backend page
("Performance Infrastructure API", "HMX Power Settings"), "HAP_power" the Hexagon SDK's page of that name, "measured"
an answer of the real library.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding
from htppower.rules import ceng_checks, relax_checks, vote_checks
from htppower.rules.case import Applied, Case, ValidityRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.errors import Finding


class Breach(enum.Enum):
    """What follows when a rule is broken."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    DEGRADES = "platform degrades"
    BY_CONSTRUCTION = "by construction"


@attrs.frozen(repr=False, eq=False)
class Rule:
    """One rule.

    Attributes:
        id: as used in errors, degradations and the documentation.
        says: the rule in one sentence.
        breach: what follows when it is broken.
        source: where the rule comes from.
        check: yields a finding for each breach; None where the code can't break the rule.
        kept_by: for a rule that holds by construction, what keeps it.
    """

    id: str
    says: str
    breach: Breach
    source: str
    check: Callable[[Case], Iterator[Finding]] | None = None
    kept_by: str = ""


_IN_TABLE = (
    Rule("DCVS-1", "The sleep latency is 10 to 65535 us.", Breach.ERROR, "HAP_power", vote_checks.sleep_latency),
    Rule(
        "DCVS-2",
        "Core and bus corners keep min <= target <= max in corner order, DISABLE aside.",
        Breach.ERROR,
        "HAP_power; measured: the library does not check it",
        vote_checks.clock_order,
    ),
    Rule(
        "DCVS-3",
        "The power mode acts only with dcvs_enable true.",
        Breach.NOTE,
        "HAP_power",
        vote_checks.power_mode,
    ),
    Rule(
        "DCVS-4",
        "A sleep_disable that a profile sets is cleared by its power state.",
        Breach.ERROR,
        "HAP_power: a field stays until a vote changes it",
        vote_checks.sleep_disable_cleared,
    ),
    Rule(
        "DCVS-5",
        "There is one HVX vote: dcvs_v3 or dcvs_v3_exp.",
        Breach.ERROR,
        "vendor, DCVS_V3_EXP note 5; measured: 13001 in one call",
        vote_checks.one_hvx_form,
    ),
    Rule(
        "DCVS-6",
        "HVX votes in expanded corners need Hexagon V85 or later.",
        Breach.DEGRADES,
        "vendor, DCVS_V3_EXP note 1; measured: 13004",
        vote_checks.expanded_architecture,
    ),
    Rule(
        "HMX-1",
        "Explicit HMX votes need Hexagon V75 or later.",
        Breach.DEGRADES,
        "vendor, HMX note 1; measured: 13004",
        vote_checks.hmx_architecture,
    ),
    Rule(
        "HMX-2",
        "The HVX vote comes first, on the same id, in the same call or before.",
        Breach.ERROR,
        "vendor, HMX note 2; measured: 13001",
        vote_checks.hvx_first,
    ),
    Rule(
        "HMX-3",
        "There is no HMX vote without an active HVX vote on that id.",
        Breach.ERROR,
        "vendor, HMX notes 3 and 4; measured: 13001",
        vote_checks.hmx_needs_hvx,
    ),
    Rule(
        "HMX-4",
        "Where no HMX vote is given, the default (pick default) applies.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 5",
        kept_by="an unset hmx_v2 sends nothing, and the DSP's default is pick default",
    ),
    Rule(
        "HMX-5",
        "An explicit HMX vote stays until pick default is voted: lowering and every later profile must say which.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 6",
        vote_checks.hmx_reverted,
        kept_by="the ledger adds pick default to a set that leaves an explicit HMX vote unsaid",
    ),
    Rule(
        "HMX-6",
        "Changing or reverting the HMX vote is valid while the id has a valid HVX vote.",
        Breach.ERROR,
        "vendor, HMX note 7",
        vote_checks.hmx_change,
    ),
    Rule(
        "HMX-7",
        "Destroying the id removes every vote on it, HMX included.",
        Breach.BY_CONSTRUCTION,
        "vendor, HMX note 8",
        kept_by="closing a session destroys its ids, and the ledger drops all it knew of them",
    ),
    Rule(
        "HMX-8",
        "HMX corners are expanded corners with min <= target <= max.",
        Breach.ERROR,
        "measured: legacy corners are 13001 from QAIRT 2.50 on",
        vote_checks.hmx_order,
    ),
    Rule(
        "CENG-1",
        "CENG votes need Hexagon V75 or later, those in expanded corners V85.",
        Breach.DEGRADES,
        "vendor, CENG note 1, CENG_EXP note 1; measured: 13004, on V89 too",
        ceng_checks.architecture,
    ),
    Rule(
        "CENG-2",
        "There is no CENG vote without an active HVX vote on that id.",
        Breach.ERROR,
        "vendor, CENG notes 3 and 4; measured: 13001",
        ceng_checks.needs_hvx,
    ),
    Rule(
        "CENG-3",
        "There is one CENG vote: ceng or ceng_exp.",
        Breach.ERROR,
        "vendor, CENG_EXP note 4; measured: 13001 in one call",
        ceng_checks.one_form,
    ),
    Rule(
        "CENG-4",
        "CENG corners keep min <= target <= max in corner order, DISABLE aside.",
        Breach.ERROR,
        "HAP_power; measured: the library does not check it",
        ceng_checks.order,
    ),
    Rule("RPC-1", "The RPC polling time is 0 to 9999 us.", Breach.ERROR, "vendor", vote_checks.polling_range),
    Rule(
        "RPC-2",
        "Adaptive polling needs polling on.",
        Breach.ERROR,
        "vendor",
        vote_checks.adaptive_needs_polling,
    ),
    Rule(
        "RPC-3",
        "Adaptive polling is not for models under 1 ms.",
        Breach.WARNING,
        "vendor",
        vote_checks.adaptive_threshold,
    ),
    Rule(
        "RPC-4",
        "RPC latency and polling do not exist on QNX.",
        Breach.DEGRADES,
        "vendor",
        vote_checks.rpc_platform,
    ),
    Rule(
        "RPC-5",
        "A control latency of 1 to 199 us is latency critical, of 200 us and more moderate; 0 is no vote, and can't "
        "take an earlier one back.",
        Breach.NOTE,
        "Hexagon SDK, FastRPC",
        vote_checks.control_latency,
    ),
    Rule(
        "RPC-6",
        "Polling is for burst, sustained_high_performance and high_performance.",
        Breach.WARNING,
        "vendor, profiles table",
        vote_checks.polling_profile,
    ),
    Rule(
        "TMR-1",
        "The HMX timeout is 100 to 1000000 us.",
        Breach.ERROR,
        "measured: 13001 outside",
        vote_checks.hmx_timeout,
    ),
    Rule(
        "DDR-1",
        "The DDR performance mode needs every bus corner at MAX_VOLTAGE_CORNER, and Hexagon V81 or later.",
        Breach.ERROR,
        "QnnHtpPerfInfrastructure.h, SDK 2.48",
        vote_checks.ddr_perf_mode,
    ),
    Rule(
        "SUS-1",
        "A sustain time is 0, or 20000 us or more: a timer can't keep a shorter one under load.",
        Breach.WARNING,
        "measured: 19 ms late at p99 beside one busy thread",
        relax_checks.short_sustain,
    ),
    Rule(
        "SUS-2",
        "A profile with votes names the state it relaxes to.",
        Breach.ERROR,
        "vendor, profiles table",
        relax_checks.names_power_state,
    ),
    Rule(
        "SUS-3",
        "Lowering in the background acts only where the sustain time is 0: a timer is off the caller's thread anyway.",
        Breach.NOTE,
        "the sustain timer's thread is the controller's own",
        relax_checks.background_lowering,
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

# The rules that depend on what is in force, and so can only be checked when a set is about to be sent.
AT_THE_CALL = ("HMX-2", "HMX-3", "HMX-6")


def check(case: Case, ids: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """Return every breach of the rules in this case, in the order of the table.

    Args:
        case: the votes, and what is known around them.
        ids: check these rules only.
    """
    chosen = RULES.values() if ids is None else (RULES[rule_id] for rule_id in ids)
    return tuple(finding for rule in chosen if rule.check is not None for finding in rule.check(case))


def errors(case: Case) -> tuple[Finding, ...]:
    """Return the breaches for which a vote set is refused."""
    return tuple(finding for finding in check(case) if RULES[finding.rule].breach is Breach.ERROR)


def is_valid(hvx: Applied, hmx: Applied) -> bool:
    """Return what the vendor's validity table says of an HVX and an explicit HMX vote on one id.

    Combinations that the table leaves out (an HMX vote that outlives its HVX vote) are invalid.
    """
    return any(row.valid for row in HVX_HMX_VALIDITY if (row.hvx, row.hmx) == (hvx, hmx))

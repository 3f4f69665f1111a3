"""The table of the rules of votes; each rule is defined next to the function that checks it.

Each rule names its source: "vendor" is the QNN HTP backend page ("Performance Infrastructure API", "HMX Power
Settings"), "HAP_power" is the Hexagon SDK's page of that name, "measured" is an answer of the real library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.case import Applied, ValidityRow
from htppower.rules.ceng_rules import CENG_RULES
from htppower.rules.hmx_rules import HMX_RULES
from htppower.rules.hvx_rules import HVX_RULES
from htppower.rules.id_rules import ID_RULES
from htppower.rules.number_rules import NUMBER_RULES
from htppower.rules.relax_rules import RELAX_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.errors import Finding
    from htppower.rules.case import Case
    from htppower.rules.rule import Rule

RULES = {rule.id: rule for rule in (*HVX_RULES, *HMX_RULES, *CENG_RULES, *NUMBER_RULES, *RELAX_RULES, *ID_RULES)}

# The vendor's table of HVX and HMX votes ("HMX Power Settings"); combinations that are not in it are invalid.
HVX_HMX_VALIDITY = (
    ValidityRow(hvx=Applied.APPLIED, hmx=Applied.APPLIED, pick_default=False, valid=True),
    ValidityRow(hvx=Applied.NONE, hmx=Applied.APPLIED, pick_default=None, valid=False),
    ValidityRow(hvx=Applied.APPLIED, hmx=Applied.NONE, pick_default=True, valid=True),
    ValidityRow(hvx=Applied.REMOVED, hmx=Applied.REMOVED, pick_default=None, valid=True),
)


def ids(which: Callable[[Rule], bool]) -> tuple[str, ...]:
    """Return the ids of the rules that match a condition, in the order of the table."""
    return tuple(rule.id for rule in RULES.values() if which(rule))


_REFUSING = ids(lambda rule: rule.refuses)


def check(case: Case, ids: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """Return every breach of the rules, or only of the rules with these ids, in the order of the table."""
    chosen = RULES.values() if ids is None else (RULES[rule_id] for rule_id in ids)
    return tuple(finding for rule in chosen for finding in rule.breaches(case))


def errors(case: Case) -> tuple[Finding, ...]:
    """Return the breaches that make a vote set refused."""
    return check(case, _REFUSING)


def is_valid(hvx: Applied, hmx: Applied) -> bool:
    """Return whether the vendor's validity table allows an HVX and an explicit HMX vote on one id."""
    return any(row.valid for row in HVX_HMX_VALIDITY if (row.hvx, row.hmx) == (hvx, hmx))

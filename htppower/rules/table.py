"""The table of the rules of votes. To add a rule, write its record in one of the modules that the table collects.

Each rule names its source: "vendor" is the QNN HTP backend page ("Performance Infrastructure API", "HMX Power
Settings"), "HAP_power" is the Hexagon SDK's page of that name, "measured" is an answer of the real library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules import ceng_rules, ddr_rules, hmx_rules, hvx_rules, number_rules, relax_rules
from htppower.rules.case import Applied, ValidityRow
from htppower.rules.rule import Breach, Rule, rules_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.errors import Finding
    from htppower.rules.case import Case

_NULL_CLIENT = Rule(
    "ID-1",
    "No vote is sent on power config id 0, the NULL client.",
    Breach.BY_CONSTRUCTION,
    "header of SDK 2.50: a vote there may override every other setting of the process; measured on x86-64: 13001",
    why=("Votes on id 0 belong to no client: they may override all other votes of the process, and are never removed."),
    mend="There is nothing to mend in a file; in code of your own, create an id and vote on that.",
    said="Nothing in a file can break it: every id is one that the library has given, and 0 is refused.",
    kept_by="if a library returns id 0, createPowerConfigId counts as failed, and no call is made on that id",
)

RULES = {
    rule.id: rule
    for rule in (*rules_in(hvx_rules, hmx_rules, ceng_rules, number_rules, ddr_rules, relax_rules), _NULL_CLIENT)
}

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

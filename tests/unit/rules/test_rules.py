"""The rules: each ID with cases that break it and cases that keep it, and the parts of a case that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.rule_cases import BROKEN, KEPT

from htppower.rules.rule import Needs
from htppower.rules.table import RULES, check, ids

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.rules.case import Case

BREACHES = {
    "DCVS-1": "error",
    "DCVS-2": "error",
    "DCVS-3": "note",
    "DCVS-4": "error",
    "DCVS-5": "error",
    "DCVS-6": "platform degrades",
    "HMX-1": "platform degrades",
    "HMX-2": "by construction",
    "HMX-3": "error",
    "HMX-4": "by construction",
    "HMX-5": "by construction",
    "HMX-6": "error",
    "HMX-7": "by construction",
    "HMX-8": "error",
    "CENG-1": "platform degrades",
    "CENG-2": "error",
    "CENG-3": "error",
    "CENG-4": "error",
    "RPC-1": "error",
    "RPC-2": "error",
    "RPC-3": "warning",
    "RPC-4": "platform degrades",
    "RPC-5": "note",
    "RPC-6": "warning",
    "RPC-7": "platform degrades",
    "RPC-8": "note",
    "TMR-1": "error",
    "DDR-1": "error",
    "DDR-2": "platform degrades",
    "DDR-3": "warning",
    "SUS-1": "warning",
    "SUS-2": "error",
    "SUS-3": "note",
    "SUS-4": "note",
    "SUS-5": "error",
    "SUS-6": "warning",
    "SUS-7": "warning",
    "SUS-8": "note",
    "SUS-9": "note",
    "ID-1": "by construction",
}
NEVER_BROKEN = {"HMX-2", "HMX-4", "HMX-7", "RPC-7", "ID-1"}


def test_ids_and_breach_kinds() -> None:
    """The table has these rules in this order, each with its kind of breach, a sentence and a source."""
    assert {rule.id: rule.breach.value for rule in RULES.values()} == BREACHES
    assert list(RULES) == list(BREACHES)
    assert all(rule.says.endswith(".") and rule.source for rule in RULES.values())


def test_what_is_asked_of_a_rule_follows_from_what_it_needs() -> None:
    """Readers, plans, calls and vote tests each choose the rules that can find something there."""
    assert ids(lambda rule: rule.asked_at_the_call) == ("HMX-3", "HMX-6", "CENG-2")
    assert ids(lambda rule: rule.degrades) == ("DCVS-6", "HMX-1", "CENG-1", "RPC-4", "RPC-7", "DDR-2")
    of_votes = ("DCVS-3", "DCVS-4", "DCVS-5", "HMX-3", "CENG-2", "CENG-3", "RPC-2", "DDR-1", "DDR-3")
    of_times = ("SUS-2", "SUS-3", "SUS-5", "SUS-6", "SUS-7", "SUS-8", "SUS-9")
    assert ids(lambda rule: rule.compares) == (*of_votes, *of_times)
    of_one_value = ("DCVS-1", "DCVS-2", "HMX-8", "CENG-4", "RPC-1", "TMR-1")
    assert ids(lambda rule: rule.refuses and not rule.needs) == of_one_value


@pytest.mark.parametrize(("rule_id", "case"), [(rule_id, case) for rule_id, case, _ in BROKEN])
def test_a_rule_looks_at_nothing_that_it_does_not_name(rule_id: str, case: Case) -> None:
    """Without the parts that a rule does not need, it finds the same, with its own severity."""
    rule = RULES[rule_id]
    around: dict[Needs, dict[str, Any]] = {
        Needs.PLATFORM: {"platform": None},
        Needs.IN_FORCE: {"in_force": None},
        Needs.PROFILE: {
            "lineage": (),
            "lowered": None,
            "after_init": None,
            "after_inference": None,
            "in_background": False,
            "then": None,
            "then_after": None,
            "raise_ahead_us": 0,
        },
    }
    unneeded: dict[str, Any] = {}
    for need, values in around.items():
        unneeded |= {} if need in rule.needs else values
    assert check(attrs.evolve(case, **unneeded), [rule_id]) == check(case, [rule_id])
    assert {finding.severity for finding in check(case, [rule_id])} == {rule.severity}


def test_every_rule_has_a_case_that_breaks_it_and_one_that_keeps_it() -> None:
    """Every rule is tested in both ways here, or can't be broken and says why."""
    tried = set(BREACHES) - NEVER_BROKEN
    assert {rule_id for rule_id, _, _ in BROKEN} == tried
    assert {rule_id for rule_id, _ in KEPT} == tried
    assert {rule.id for rule in RULES.values() if rule.check is None} == NEVER_BROKEN
    assert {rule.id for rule in RULES.values() if rule.kept_by} == {"HMX-2", "HMX-4", "HMX-5", "HMX-7", "ID-1"}


@pytest.mark.parametrize(("rule_id", "case", "at"), BROKEN)
def test_a_breach_is_found_at_its_place(rule_id: str, case: Case, at: list[KeyPath]) -> None:
    """The broken rule has a finding with a message at every place concerned."""
    found = check(case, [rule_id])
    assert [(finding.rule, finding.at) for finding in found] == [(rule_id, place) for place in at]
    assert all(finding.message for finding in found)
    assert set(found) <= set(check(case))


@pytest.mark.parametrize(("rule_id", "case"), KEPT)
def test_what_keeps_a_rule_is_not_found(rule_id: str, case: Case) -> None:
    """A case that keeps a rule has no finding of it."""
    assert check(case, [rule_id]) == ()

"""Every rule that a finding can name: the rules of files and votes, and the rules that only lint checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.extension_rules import EXTENSION_RULES
from htppower.rules.file_rules import FILE_RULES
from htppower.rules.model_rules import MODEL_RULES
from htppower.rules.rule import Breach, Family, Rule
from htppower.rules.settings_rules import SETTINGS_RULES
from htppower.rules.table import RULES

if TYPE_CHECKING:
    from htppower.errors import Finding, KeyPath

_QUESTION = "a reviewer's question"
_POLLING = (("votes", "rpc_polling_time_us"), ("votes", "adaptive_polling_time_us"))


def _review(rule_id: str, says: str, source: str = _QUESTION, *, fields: tuple[KeyPath, ...] = ()) -> Rule:
    return Rule(rule_id, says, Breach.WARNING, source, fields=fields, family=Family.REVIEW)


def _suppression(rule_id: str, says: str) -> Rule:
    return Rule(rule_id, says, Breach.ERROR, _QUESTION, family=Family.SUPPRESSION)


REVIEW_RULES = (
    _review(
        "REV-1",
        "A field that one profile states is stated by the others of its table, too.",
        "ONNX Runtime issue 19728: a field that a mode leaves out keeps the value of the previous mode",
    ),
    _review(
        "REV-2",
        "No profile costs more than one above it in the vendor's table.",
        "vendor, profiles table",
        fields=_POLLING,
    ),
    _review(
        "REV-3",
        "Each power state of an active profile lowers what the profile raises.",
        fields=(("relax", "to"), ("relax", "after_deinit_to"), ("relax", "then", "to")),
    ),
    _review(
        "REV-4",
        "No power state leaves polling on.",
        "measured by others: 20 % to 200 % of a CPU core in an idle process",
        fields=_POLLING,
    ),
    _review("REV-5", "Every power state is used by a profile."),
    _review(
        "REV-6",
        "A file has the name of the profile or power state in it, since names are looked up by file.",
        fields=(("profile",), ("state",)),
    ),
    _review("REV-7", "The name of a file leads to it: no file of the same name hides it."),
    _review(
        "REV-8",
        "Votes stay up for at most 10 s after a phase.",
        "thirty times the 300 ms of the vendor's tools",
        fields=(
            ("relax", "after_init_us"),
            ("relax", "after_inference_us"),
            ("relax", "after_inference_us", "adaptive", "most_us"),
        ),
    ),
)

SUPPRESSION_RULES = (
    _suppression("SUP-1", "A suppression names rules that can be suppressed, a date and a reason."),
    _suppression("SUP-2", "A suppression has not expired."),
    _suppression("SUP-3", "A suppression matches a finding."),
)

CATALOGUE = {
    rule.id: rule
    for rule in (
        *FILE_RULES,
        *RULES.values(),
        *REVIEW_RULES,
        *SUPPRESSION_RULES,
        *SETTINGS_RULES,
        *EXTENSION_RULES,
        *MODEL_RULES,
    )
}


def expected(finding: Finding) -> str:
    """Return what the rule of a finding expects; empty for a rule that summarizes findings of many rules."""
    return "" if finding.left_out else CATALOGUE[finding.rule].says


def rules_on(*fields: KeyPath) -> tuple[str, ...]:
    """Return the ids of the rules about any of these fields; a field is given by its path of keys in a file."""
    wanted = set(fields)
    return tuple(rule.id for rule in CATALOGUE.values() if not wanted.isdisjoint(rule.fields))

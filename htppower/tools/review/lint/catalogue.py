"""Every rule that a finding can name, by its id."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from htppower.rules.rule import rules_in
from htppower.rules.table import RULES
from htppower.tools.review.extension_lint.harm_rules import HARM_RULES
from htppower.tools.review.extension_lint.parser_rules import PARSER_RULES
from htppower.tools.review.lint import review_rules
from htppower.tools.review.lint.file_rules import FILE_RULES, MODEL_RULES, SUPPRESSION_RULES
from htppower.tools.review.settings_rules import SETTINGS_RULES

if TYPE_CHECKING:
    from htppower.errors import Finding, KeyPath

CATALOGUE = {
    rule.id: rule
    for rule in (
        *FILE_RULES,
        *RULES.values(),
        *sorted(rules_in(review_rules), key=attrgetter("id")),
        *SUPPRESSION_RULES,
        *SETTINGS_RULES,
        *PARSER_RULES,
        *HARM_RULES,
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

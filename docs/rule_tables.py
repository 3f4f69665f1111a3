"""The tables of the rules, and of valid votes; each rule with its example (``rule_parts``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs import rule_parts
from docs.tables import made_table
from htppower.rules import table as rules
from htppower.rules.case import Applied
from htppower.rules.extension_rules import EXTENSION_RULES
from htppower.rules.file_rules import FILE_RULES

if TYPE_CHECKING:
    from collections.abc import Callable


def _rules() -> str:
    rows = [(f"`{rule.id}`", rule.says, rule.breach.value, rule.source) for rule in rules.RULES.values()]
    return made_table(("Id", "Rule", "What follows", "Source"), rows)


def _file_rules() -> str:
    return made_table(("Id", "Rule"), [(f"`{rule.id}`", rule.says) for rule in FILE_RULES])


def _extension_rules() -> str:
    """Return the table of the rules of extension files."""
    rows = [(f"`{rule.id}`", rule.severity.value, rule.says) for rule in EXTENSION_RULES]
    return made_table(("Id", "Weighs", "Rule"), rows)


def _validity() -> str:
    words = {Applied.APPLIED: "voted", Applied.NONE: "no vote", Applied.REMOVED: "vote removed"}
    default = {True: "yes", False: "no", None: "does not matter"}
    rows = [
        (words[row.hvx], words[row.hmx], default[row.pick_default], "valid" if row.valid else "invalid")
        for row in rules.HVX_HMX_VALIDITY
    ]
    return made_table(("HVX", "HMX", "Pick default", "So the id is"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "rules": _rules,
    "rule-messages": lambda: rule_parts.messages(rules.RULES),
    "file-rules": _file_rules,
    "file-messages": lambda: rule_parts.messages(rule.id for rule in FILE_RULES),
    "extension-rules": _extension_rules,
    "extension-messages": lambda: rule_parts.messages(rule.id for rule in EXTENSION_RULES),
    "validity": _validity,
}

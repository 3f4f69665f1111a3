"""Every rule that a finding can name: what it says, how much it weighs, and where the documentation has it."""

from __future__ import annotations

import enum

import attrs

from htppower.errors import Severity
from htppower.rules import table as rules


class Family(str, enum.Enum):
    """What a rule is about."""

    FILE = "file"
    YAML = "yaml"
    SCHEMA = "schema"
    VOTES = "votes"
    REVIEW = "review"
    SUPPRESSION = "suppression"

    __str__ = str.__str__


@attrs.frozen(repr=False, eq=False)
class Entry:
    """One rule of the catalogue.

    Attributes:
        id: such as ``DCVS-2``.
        says: what holds, in one sentence.
        severity: of its findings.
        family: what it is about.
        source: where it comes from.
    """

    id: str
    says: str
    severity: Severity
    family: Family
    source: str = "the format of profile files"

    @property
    def page(self) -> str:
        """Where the documentation has the rule, from the project's root."""
        return f"docs/rules.md#{self.id.lower()}"


_SEVERITY = {
    rules.Breach.ERROR: Severity.ERROR,
    rules.Breach.WARNING: Severity.WARNING,
    rules.Breach.NOTE: Severity.NOTE,
    rules.Breach.DEGRADES: Severity.WARNING,
    rules.Breach.BY_CONSTRUCTION: Severity.NOTE,
}


def _file_rules() -> tuple[Entry, ...]:
    said = {
        "FILE-1": "The file can be read.",
        "FILE-2": "The file is at most 1 MiB.",
        "FILE-3": "The file is UTF-8.",
        "YAML-1": "The file is well-formed YAML, at most 20 levels deep, and holds one mapping.",
        "YAML-2": "No key is given twice.",
        "YAML-3": "No word is one that YAML 1.1 and 1.2 read differently, such as `on`, `010` or `12:30:45`.",
        "YAML-4": "Aliases are defined, and do not unfold to more than 2000 values or hold themselves.",
        "YAML-5": "There are no tags and no merge keys.",
        "KEY-1": "Every key is one that the format knows.",
        "KEY-2": "Every field that may not be left out is stated, or inherited by `extends`.",
        "TYPE-1": "Every value is of its field's type.",
        "VALUE-1": "Every word is one of its field's words, and every number is in its field's range.",
        "NAME-1": "A profile or power state of that name exists.",
        "EXT-1": "`extends` does not go round in a circle.",
    }
    families = {"FILE": Family.FILE, "YAML": Family.YAML}
    return tuple(
        Entry(rule_id, says, Severity.ERROR, families.get(rule_id.partition("-")[0], Family.SCHEMA))
        for rule_id, says in said.items()
    )


_REVIEW_SOURCE = "a reviewer's question"

FILE_RULES = _file_rules()

VOTE_RULES = tuple(
    Entry(rule.id, rule.says, _SEVERITY[rule.breach], Family.VOTES, rule.source) for rule in rules.RULES.values()
)

REVIEW_RULES = (
    Entry(
        "REV-1",
        "What one profile states, the profiles beside it state too.",
        Severity.WARNING,
        Family.REVIEW,
        "ONNX Runtime issue 19728: a field that a mode leaves out keeps the value of the mode before",
    ),
    Entry(
        "REV-2",
        "No profile costs more than one that stands above it in the vendor's table.",
        Severity.WARNING,
        Family.REVIEW,
        "vendor, profiles table",
    ),
    Entry(
        "REV-3",
        "The power state of an active profile lowers what the profile raises.",
        Severity.WARNING,
        Family.REVIEW,
        _REVIEW_SOURCE,
    ),
    Entry(
        "REV-4",
        "No power state leaves polling on.",
        Severity.WARNING,
        Family.REVIEW,
        "measured by others: 20 % to 200 % of a CPU core in an idle process",
    ),
    Entry("REV-5", "Every power state is used by a profile.", Severity.WARNING, Family.REVIEW, _REVIEW_SOURCE),
    Entry(
        "REV-6",
        "A file has the name of the profile or power state in it, since names are looked up by file.",
        Severity.WARNING,
        Family.REVIEW,
        _REVIEW_SOURCE,
    ),
    Entry(
        "REV-7",
        "The name of a file leads to it: no other file of that name comes before it.",
        Severity.WARNING,
        Family.REVIEW,
        _REVIEW_SOURCE,
    ),
    Entry(
        "REV-8",
        "Votes stay up for at most 10 s after a phase.",
        Severity.WARNING,
        Family.REVIEW,
        "thirty times the 300 ms of the vendor's tools",
    ),
)

SUPPRESSION_RULES = (
    Entry(
        "SUP-1",
        "A suppression names rules that can be suppressed, a date and a reason.",
        Severity.ERROR,
        Family.SUPPRESSION,
        _REVIEW_SOURCE,
    ),
    Entry("SUP-2", "A suppression has not expired.", Severity.ERROR, Family.SUPPRESSION, _REVIEW_SOURCE),
    Entry("SUP-3", "A suppression matches a finding.", Severity.ERROR, Family.SUPPRESSION, _REVIEW_SOURCE),
)

CATALOGUE = {entry.id: entry for entry in (*FILE_RULES, *VOTE_RULES, *REVIEW_RULES, *SUPPRESSION_RULES)}

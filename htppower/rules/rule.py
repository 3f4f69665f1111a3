"""A rule: its sentence, the consequence of a breach, its source, and its inputs."""

import enum
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import attrs

from htppower.errors import Finding, KeyPath, Severity
from htppower.rules.case import Case

# No `from __future__ import annotations`: a named tuple would compile each field type again, which slows the start.


class Breach(enum.Enum):
    """The consequence of a broken rule."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    DEGRADES = "platform degrades"
    BY_CONSTRUCTION = "by construction"


_SEVERITY = {
    Breach.ERROR: Severity.ERROR,
    Breach.WARNING: Severity.WARNING,
    Breach.NOTE: Severity.NOTE,
    Breach.DEGRADES: Severity.WARNING,
    Breach.BY_CONSTRUCTION: Severity.NOTE,
}


class Family(str, enum.Enum):
    """The subject of a rule."""

    FILE = "file"
    YAML = "yaml"
    SCHEMA = "schema"
    VOTES = "votes"
    REVIEW = "review"
    SUPPRESSION = "suppression"
    SETTINGS = "settings"
    EXTENSION = "extension file"
    DEVICE = "device model"

    __str__ = str.__str__


class Needs(enum.Enum):
    """The inputs of a rule besides the value of a single field.

    Attributes:
        FIELDS: several fields of a file, which the rule compares.
        PROFILE: the profile around the votes: its names, its power state, its times.
        PLATFORM: the platform that receives the votes.
        IN_FORCE: the votes in force on the id.
    """

    FIELDS = "several fields"
    PROFILE = "the profile"
    PLATFORM = "the platform"
    IN_FORCE = "the votes in force"


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: the id in findings, degradations and the documentation.
        says: the rule in one sentence.
        breach: the consequence of a breach.
        source: the source of the rule.
        check: yields a finding for each breach in a vote set; None if the code can't break the rule, or if the rule is
            not about votes.
        needs: the inputs of the rule besides the value of a single field.
        fields: the keys of the fields whose explanation includes the rule.
        family: the subject of the rule.
        kept_by: for a rule that always holds, the reason why.
    """

    id: str
    says: str
    breach: Breach
    source: str
    check: Callable[[Case], Iterator[Finding]] | None = None
    needs: tuple[Needs, ...] = ()
    fields: tuple[KeyPath, ...] = ()
    family: Family = Family.VOTES
    kept_by: str = ""

    @property
    def severity(self) -> Severity:
        """How serious its findings are."""
        return _SEVERITY[self.breach]

    @property
    def pointer(self) -> str:
        """The command that explains the rule."""
        return f"htppower explain {self.id}"

    @property
    def refuses(self) -> bool:
        """Whether a breach is refused."""
        return self.breach is Breach.ERROR

    @property
    def degrades(self) -> bool:
        """Whether a platform that breaks it works without the vote."""
        return self.breach is Breach.DEGRADES

    @property
    def compares(self) -> bool:
        """Whether it compares fields; it reports nothing while one of the fields can't be read."""
        return Needs.FIELDS in self.needs

    @property
    def asked_at_the_call(self) -> bool:
        """Whether it is checked just before a vote set is sent, when the votes in force are known."""
        return self.refuses and Needs.IN_FORCE in self.needs

    def breaches(self, case: Case) -> Iterator[Finding]:
        """Yield a finding for each breach in a case, with the severity of this rule."""
        for finding in () if self.check is None else self.check(case):
            yield finding if finding.severity is self.severity else attrs.evolve(finding, severity=self.severity)


def rule(
    rule_id: str, says: str, breach: Breach, source: str, **more: Any
) -> Callable[[Callable[[Case], Iterator[Finding]]], Rule]:
    """Return a decorator that turns a check function into a rule; ``more`` are other attributes of ``Rule``."""
    return lambda check: Rule(rule_id, says, breach, source, check, **more)

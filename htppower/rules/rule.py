"""What a rule is: the sentence, what follows when it is broken, where it comes from, and what it looks at."""

import enum
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import attrs

from htppower.errors import Finding, KeyPath, Severity
from htppower.rules.case import Case

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.


class Breach(enum.Enum):
    """What follows when a rule is broken."""

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
    """What a rule is about."""

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
    """What a rule looks at besides the value of one field.

    Attributes:
        FIELDS: several fields of a file, which it compares.
        PROFILE: the profile around the votes: its names, its power state, its times.
        PLATFORM: where the votes are sent.
        IN_FORCE: the votes in force on the id.
    """

    FIELDS = "several fields"
    PROFILE = "the profile"
    PLATFORM = "the platform"
    IN_FORCE = "the votes in force"


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: as used in findings, degradations and the documentation.
        says: the rule in one sentence.
        breach: what follows when it is broken.
        source: where the rule comes from.
        check: yields a finding for each breach in a vote set; None where the code can't break the rule, and for a rule
            that is not about votes.
        needs: what it looks at besides the value of one field.
        fields: the keys of the fields with which the rule is explained.
        family: what it is about.
        kept_by: for a rule that holds by construction, what keeps it.
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
        """How much its findings weigh."""
        return _SEVERITY[self.breach]

    @property
    def pointer(self) -> str:
        """The command that explains the rule."""
        return f"htppower explain {self.id}"

    @property
    def refuses(self) -> bool:
        """Whether what breaks it is refused."""
        return self.breach is Breach.ERROR

    @property
    def degrades(self) -> bool:
        """Whether a platform on which it is broken does without the vote."""
        return self.breach is Breach.DEGRADES

    @property
    def compares(self) -> bool:
        """Whether it compares fields; it says nothing while one of them can't be read."""
        return Needs.FIELDS in self.needs

    @property
    def asked_at_the_call(self) -> bool:
        """Whether a vote set is checked against it just before it is sent, when it is known what is in force."""
        return self.refuses and Needs.IN_FORCE in self.needs

    def breaches(self, case: Case) -> Iterator[Finding]:
        """Yield a finding for each breach in a case, with the weight of this rule."""
        for finding in () if self.check is None else self.check(case):
            yield finding if finding.severity is self.severity else attrs.evolve(finding, severity=self.severity)


def rule(
    rule_id: str, says: str, breach: Breach, source: str, **more: Any
) -> Callable[[Callable[[Case], Iterator[Finding]]], Rule]:
    """Return what makes a rule of the function that checks it; ``more`` are other attributes of ``Rule``."""
    return lambda check: Rule(rule_id, says, breach, source, check, **more)

"""A rule in one record: its sentence, reason, source, examples and check.

A rule of votes is checked whenever votes are sent, so its record is in this package, which hosts import. The texts add
less than a millisecond to that import, so they stand next to the check. A rule that only the tools check has its record
in ``htppower.tools.review.lint``. Explain, lint, the JSON Schemas and the documentation are made from the records.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from htppower.errors import Finding, KeyPath
    from htppower.rules.case import Case


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


# The file of most examples.
MINE = "mine.yaml"
# JSON Schemas of a field that has no vote, and of a field with several values.
UNSET: Mapping[str, Any] = {"const": "unset"}
OBJECT: Mapping[str, Any] = {"type": "object"}


@attrs.frozen(eq=False)
class IfThen:
    """A condition between fields of one file, as JSON Schema expresses it.

    Attributes:
        given: the schemas of fields that the file has; the condition applies if all of them match.
        then: the schemas that other fields must match.
        or_left_out: the schemas of fields that ``given`` needs, too, if the file has them.
        of_profile: it is about the parts of a profile instead of the fields of ``votes``.
    """

    given: Mapping[str, Any]
    then: Mapping[str, Any]
    or_left_out: Mapping[str, Any] = {}
    of_profile: bool = False


@attrs.frozen(eq=False)
class Rule:
    """One rule.

    Attributes:
        id: the id in findings, degradations and the documentation.
        says: the rule in one sentence.
        breach: the consequence of a breach.
        source: the source of the rule.
        why: what happens if it is broken.
        mend: what to do, in a sentence.
        wrong: an example: the files that break it, by name.
        right: the files that keep it, written over the wrong ones.
        lint: the options of ``htppower lint`` that find the breach in the example.
        said: a description of the breach, if files can't show it.
        check: yields a finding for each breach in a vote set; None if the code can't break the rule, or if the rule is
            not about votes.
        needs: the inputs of the rule besides the value of a single field.
        fields: the keys of the fields whose explanation includes the rule.
        family: the subject of the rule.
        kept_by: for a rule that always holds, the reason why.
        schema: the part of the rule that JSON Schema can express, for files that state every field.
    """

    id: str
    says: str
    breach: Breach
    source: str
    why: str
    mend: str
    wrong: Mapping[str, str] = {}
    right: Mapping[str, str] = {}
    lint: tuple[str, ...] = ()
    said: str = ""
    check: Callable[[Case], Iterator[Finding]] | None = None
    needs: tuple[Needs, ...] = ()
    fields: tuple[KeyPath, ...] = ()
    family: Family = Family.VOTES
    kept_by: str = ""
    schema: tuple[IfThen, ...] = ()

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
    return lambda check: Rule(rule_id, says, breach, source, check=check, **more)


def rules_in(*modules: ModuleType) -> tuple[Rule, ...]:
    """Return the rules that modules define, in the order of their definition."""
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Rule))


def mine(lines: str, base: str = "burst") -> dict[str, str]:
    """Return a profile for an example, which extends another and has these lines."""
    return {MINE: f"profile: mine\nextends: {base}\n{lines}\n"}


def my_votes(spelt: str, base: str = "burst") -> dict[str, str]:
    """Return a profile for an example, which extends another and has these votes, in braces."""
    return mine(f"votes: {{{spelt}}}", base)

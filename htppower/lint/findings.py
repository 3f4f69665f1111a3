"""What lint finds, and what a run of it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.lint.catalogue import CATALOGUE, Entry, Severity

if TYPE_CHECKING:
    from htppower.lint.suppressions import Suppression


@attrs.frozen(order=True)
class Finding:
    """One finding, sorted by its place.

    Attributes:
        path: the file.
        line, column: 1-based; 0 where the finding is about the file as a whole.
        rule: the rule's id, in the catalogue.
        message: what is wrong.
        hint: what to write instead; may be empty.
        text: the line itself; empty where there is none.
    """

    path: str
    line: int
    column: int
    rule: str
    message: str
    hint: str = attrs.field(default="", eq=False)
    text: str = attrs.field(default="", eq=False)

    @property
    def entry(self) -> Entry:
        """The rule."""
        return CATALOGUE[self.rule]

    @property
    def severity(self) -> Severity:
        """How much it weighs."""
        return self.entry.severity

    @property
    def place(self) -> str:
        """File, line and column, in the form that editors jump to."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@attrs.frozen(repr=False, eq=False)
class Suppressed:
    """A finding that a suppression in its file lifts."""

    finding: Finding
    suppression: Suppression


@attrs.frozen(repr=False, eq=False)
class LintReport:
    """A run.

    Attributes:
        files: the files that were looked at, in order.
        findings: every finding that counts, sorted.
        suppressed: those that are lifted, sorted.
    """

    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return how many findings weigh that much."""
        return sum(finding.severity is severity for finding in self.findings)

"""What a run of lint comes to."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import Severity, bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import Finding
    from htppower.review.lint.lines import Lines
    from htppower.review.lint.suppressions import Suppressed


class LintReport(NamedTuple):
    """A run.

    Attributes:
        files: the files that were looked at, in order.
        findings: every finding, sorted.
        suppressed: those that are lifted, sorted.
        left_out: YAML in the folders that holds neither profile nor power state.
        strict: warnings count.
        lines: the files in which something was found, by their paths.
        help_uri: the page of a rule in the user's own documentation; ``{rule}`` stands for the id. Empty for none.
    """

    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    left_out: tuple[str, ...] = ()
    strict: bool = False
    lines: Mapping[str, Lines] = MappingProxyType({})
    help_uri: str = ""

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings as they are shown, of each file at most 100; the last one then stands for the others."""
        return bounded(self.findings)

    def counts(self, finding: Finding) -> bool:
        """Return whether a finding is a reason to fail."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    def excerpt(self, finding: Finding) -> tuple[str, int]:
        """Return the line of a finding, or the part of it around its column, and the column within that.

        The text is empty where there is no such line.
        """
        lines = self.lines.get(finding.path)
        return ("", finding.column) if lines is None else lines.excerpt(finding.line, finding.column)

    def count(self, severity: Severity) -> int:
        """Return how many findings weigh that much, those that are not told included."""
        return sum(finding.severity is severity for finding in self.findings)

"""The result of a run of lint."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import Severity, bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import Finding
    from htppower.tools.review.lint.lines import Lines
    from htppower.tools.review.lint.suppressions import Suppressed


class LintReport(NamedTuple):
    """The result of a run.

    Attributes:
        files: the files that were checked, in order.
        findings: every finding, sorted.
        suppressed: the findings that a suppression hides, sorted.
        left_out: YAML files in the folders that hold neither a profile nor a power state.
        strict: whether warnings are a reason to fail.
        lines: the files with findings, by their paths.
        help_uri: the page of a rule in the user's own documentation, with ``{rule}`` for the id; empty for none.
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
        """The findings to show: at most 100 of each file. The last one then stands for the others."""
        return bounded(self.findings)

    def counts(self, finding: Finding) -> bool:
        """Return whether a finding is a reason to fail."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    def excerpt(self, finding: Finding) -> tuple[str, int]:
        """Return the line of a finding, or the part of it around its column, and the column within that.

        The text is empty if the line does not exist.
        """
        lines = self.lines.get(finding.path)
        return ("", finding.column) if lines is None else lines.excerpt(finding.line, finding.column)

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity, including those that are not shown."""
        return sum(finding.severity is severity for finding in self.findings)

"""What a run of lint comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.review.lint.catalogue import Severity

if TYPE_CHECKING:
    from htppower.review.lint.findings import Finding
    from htppower.review.lint.suppressions import Suppressed


@attrs.frozen(repr=False, eq=False)
class LintReport:
    """A run.

    Attributes:
        files: the files that were looked at, in order.
        findings: every finding that counts, sorted.
        suppressed: those that are lifted, sorted.
        left_out: YAML in the folders that holds neither profile nor power state.
        strict: warnings count.
    """

    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    left_out: tuple[str, ...] = ()
    strict: bool = False

    def counts(self, finding: Finding) -> bool:
        """Return whether a finding is a reason to fail."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    def count(self, severity: Severity) -> int:
        """Return how many findings weigh that much."""
        return sum(finding.severity is severity for finding in self.findings)

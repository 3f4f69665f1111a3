"""Findings as JUnit's XML: a suite for each file, a failure for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report import junit
from htppower.tools.review.lint.catalogue import expected

if TYPE_CHECKING:
    from htppower.errors import Finding
    from htppower.tools.review.lint.report import LintReport


def as_junit(report: LintReport) -> str:
    """Return the report. A finding that is not a reason to fail is the output of a test that passed."""
    suites: dict[str, list[junit.Case]] = {path: [] for path in report.files}
    for finding in report.told:
        suites.setdefault(finding.path, []).append(_case(report, finding))
    return junit.as_junit(
        "htppower lint", [(path, cases or [junit.Case("lint", path)]) for path, cases in suites.items()]
    )


def _case(report: LintReport, finding: Finding) -> junit.Case:
    text, _ = report.excerpt(finding)
    wanted = f"\nexpected: {says}" if (says := expected(finding)) else ""
    return junit.Case(
        f"{finding.rule} {finding.line}:{finding.column}",
        finding.path,
        finding.message if report.counts(finding) else None,
        finding.severity.value,
        f"{finding.place}: {finding.message}\n{text}{wanted}\nhint: {finding.hint}",
    )

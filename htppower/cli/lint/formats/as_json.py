"""Findings as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.review.lint.catalogue import Severity

if TYPE_CHECKING:
    from htppower.review.lint.findings import Finding
    from htppower.review.lint.report import LintReport

FORMAT_VERSION = 1


def render(report: LintReport) -> str:
    """Return the report; keys keep their order from one version to the next."""
    document = {
        "format_version": FORMAT_VERSION,
        "files": list(report.files),
        "left_out": list(report.left_out),
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [
            {
                **_finding(suppressed.finding),
                "suppression": {
                    "line": suppressed.suppression.line,
                    "until": suppressed.suppression.until.isoformat(),
                    "because": suppressed.suppression.because,
                },
            }
            for suppressed in report.suppressed
        ],
        "summary": {f"{severity}s": report.count(severity) for severity in Severity},
    }
    return json.dumps(document, indent=2)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "severity": finding.severity.value,
        "rule": finding.rule,
        "family": finding.entry.family.value,
        "message": finding.message,
        "expected": finding.entry.says,
        "hint": finding.hint,
        "docs": finding.entry.page,
        "text": finding.text,
    }

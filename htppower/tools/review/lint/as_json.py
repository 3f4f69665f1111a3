"""Findings as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.errors import Severity
from htppower.tools.review.lint.catalogue import CATALOGUE, expected

if TYPE_CHECKING:
    from htppower.errors import Finding
    from htppower.tools.review.lint.report import LintReport

FORMAT_VERSION = 1


def as_json(report: LintReport) -> str:
    """Return the report. Keys keep their order from one version to the next."""
    document = {
        "format_version": FORMAT_VERSION,
        "files": list(report.files),
        "left_out": list(report.left_out),
        "findings": [_finding(report, finding) for finding in report.told],
        "suppressed": [
            {
                **_finding(report, suppressed.finding),
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


def _finding(report: LintReport, finding: Finding) -> dict[str, Any]:
    entry = CATALOGUE[finding.rule]
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "severity": finding.severity.value,
        "rule": finding.rule,
        "family": entry.family.value,
        "message": finding.message,
        "expected": expected(finding),
        "hint": finding.hint,
        "docs": entry.pointer,
        "text": report.excerpt(finding)[0],
    }

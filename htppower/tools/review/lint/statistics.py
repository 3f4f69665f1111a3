"""How often each rule was broken: one line for each rule instead of its findings."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from htppower.tools.report.layout import table
from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from htppower.errors import Severity
    from htppower.tools.review.lint.report import LintReport

FORMAT_VERSION = 1
_HEAD = ("count", "rule", "severity", "says")


def counts(report: LintReport) -> list[tuple[str, Severity, int]]:
    """Return how often each rule was broken, by severity, the most frequent first; suppressed findings do not count."""
    found = Counter((finding.rule, finding.severity) for finding in report.findings)
    return sorted(((*key, count) for key, count in found.items()), key=lambda each: (-each[2], each[0]))


def as_text(report: LintReport, width: int) -> str:
    """Return the counts as a table, or a line if nothing was found."""
    rows = [(str(count), rule, severity.value, CATALOGUE[rule].says) for rule, severity, count in counts(report)]
    return "\n".join(table(_HEAD, rows, width)) if rows else "no findings"


def as_json(report: LintReport) -> str:
    """Return the counts as JSON, format version 1."""
    rows = [
        {"rule": rule, "severity": severity.value, "count": count, "expected": CATALOGUE[rule].says}
        for rule, severity, count in counts(report)
    ]
    return json.dumps({"format_version": FORMAT_VERSION, "files": len(report.files), "statistics": rows}, indent=2)

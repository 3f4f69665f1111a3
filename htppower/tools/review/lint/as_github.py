"""Findings as workflow commands, which GitHub shows next to the lines of a pull request.

GitHub reads the output of a workflow line by line as commands. So everything that a file may hold is escaped, as
GitHub's own toolkit does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Severity
from htppower.tools.review.lint.catalogue import CATALOGUE, expected

if TYPE_CHECKING:
    from htppower.errors import Finding
    from htppower.tools.review.lint.report import LintReport

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def as_github(report: LintReport) -> str:
    """Return a line for every finding; empty if there are none."""
    return "\n".join(map(_line, report.told))


def _line(finding: Finding) -> str:
    properties = {
        "file": finding.path,
        "line": finding.line,
        "col": finding.column,
        "title": f"htppower {finding.rule}",
    }
    said = ",".join(f"{name}={str(value).translate(_IN_PROPERTY)}" for name, value in properties.items())
    entry = CATALOGUE[finding.rule]
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    wanted = f"\nexpected: {says}" if (says := expected(finding)) else ""
    message = f"{finding.message}{wanted}{hint}\nwhy: {entry.pointer}"
    return f"::{_COMMANDS[finding.severity]} {said}::{message.translate(_IN_MESSAGE)}"

"""Findings as documents for other tools: JSON, GitHub's workflow commands, SARIF and JUnit; and counts by rule."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from htppower._version import __version__
from htppower.errors import Severity
from htppower.tools.report import junit
from htppower.tools.report.layout import table
from htppower.tools.review.lint.catalogue import CATALOGUE, expected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import Finding
    from htppower.rules.rule import Rule
    from htppower.tools.review.lint.run import LintReport
    from htppower.tools.review.lint.suppressions import Suppression

# The version of both documents in JSON.
FORMAT_VERSION = 1
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "htppowerFinding/v1"
_INDEX = {rule: index for index, rule in enumerate(CATALOGUE)}
# GitHub reads the output of a workflow line by line as commands. So everything that a file may hold is escaped, as
# GitHub's own toolkit does.
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def as_sarif(report: LintReport) -> str:
    """Return SARIF 2.1.0, with every rule described, and suppressed findings marked as such."""
    results = [_result(report, finding) for finding in report.told]
    results += [_result(report, suppressed.finding, suppressed.suppression) for suppressed in report.suppressed]
    rules = [_rule(entry, report.help_uri) for entry in CATALOGUE.values()]
    run = {
        "tool": {"driver": {"name": "htppower", "semanticVersion": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The folder where htppower lint was run."}}},
        "artifacts": [{"location": _location(path)} for path in report.files],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(entry: Rule, help_uri: str) -> dict[str, Any]:
    said = f"{entry.says} {entry.why} {entry.mend}"
    wrong, right = (_fenced(files) for files in (entry.wrong, entry.right))
    parts = [entry.says, entry.why, *([f"Breaks it:\n\n{wrong}"] if wrong else [entry.said] if entry.said else [])]
    parts += [
        entry.mend,
        *([f"Keeps it:\n\n{right}"] if right else []),
        f"Source: {entry.source}. More: `{entry.pointer}`.",
    ]
    described = {
        "id": entry.id,
        "shortDescription": {"text": entry.says},
        "fullDescription": {"text": entry.why},
        "help": {"text": f"{said} Source: {entry.source}. More: {entry.pointer}.", "markdown": "\n\n".join(parts)},
        "defaultConfiguration": {"level": entry.severity.value},
        "properties": {"tags": [entry.family.value]},
    }
    if help_uri:
        described["helpUri"] = help_uri.replace("{rule}", entry.id)
    return described


def _fenced(files: Mapping[str, str]) -> str:
    return "\n\n".join(f"`{name}`\n\n```yaml\n{text}```" for name, text in files.items() if text)


def _result(report: LintReport, finding: Finding, suppression: Suppression | None = None) -> dict[str, Any]:
    hint = f" Hint: {finding.hint}." if finding.hint else ""
    place: dict[str, Any] = {
        "artifactLocation": _location(finding.path),
        "region": {"startLine": finding.line, "startColumn": finding.column},
    }
    text, column = report.excerpt(finding)
    if text and column == finding.column:
        place["contextRegion"] = {"startLine": finding.line, "snippet": {"text": text}}
    result = {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}.{hint}"},
        "locations": [{"physicalLocation": place}],
        # The line number is left out, so that a finding keeps its fingerprint if lines above it are added or removed.
        "partialFingerprints": {_FINGERPRINT: f"{finding.rule}:{PurePath(finding.path).as_posix()}:{finding.message}"},
    }
    if suppression is not None:
        said = f"{suppression.because} (until {suppression.until.isoformat()})"
        result["suppressions"] = [{"kind": "inSource", "justification": said}]
    return result


def _location(path: str) -> dict[str, str]:
    """Return a file as a URI: relative to the current folder, or absolute if the file is outside of it."""
    normal = os.path.normpath(path)
    if PurePath(normal).is_absolute() or normal.startswith(os.pardir):
        return {"uri": Path(os.path.abspath(normal)).as_uri()}  # links are not resolved
    return {"uri": quote(os.fsencode(PurePath(normal).as_posix())), "uriBaseId": "ROOT"}


def as_github(report: LintReport) -> str:
    """Return a command for every finding, which GitHub shows next to its line in a pull request."""
    return "\n".join(map(_command, report.told))


def _command(finding: Finding) -> str:
    path, title = (text.translate(_IN_PROPERTY) for text in (finding.path, f"htppower {finding.rule}"))
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    message = f"{finding.message}{_expected(finding)}{hint}\nwhy: {CATALOGUE[finding.rule].pointer}"
    properties = f"file={path},line={finding.line},col={finding.column},title={title}"
    return f"::{_COMMANDS[finding.severity]} {properties}::{message.translate(_IN_MESSAGE)}"


def _expected(finding: Finding) -> str:
    return f"\nexpected: {says}" if (says := expected(finding)) else ""


def as_json(report: LintReport) -> str:
    """Return JSON. Keys keep their order from one version to the next."""
    document = {
        "format_version": FORMAT_VERSION,
        "files": list(report.files),
        "left_out": list(report.left_out),
        "findings": [_finding(report, finding) for finding in report.told],
        "suppressed": [
            {
                **_finding(report, suppressed.finding),
                "suppression": {
                    "line": suppressed.suppression.place.line,
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


def as_junit(report: LintReport) -> str:
    """Return a suite for each file. A finding that is not a reason to fail is the output of a test that passed."""
    suites: dict[str, list[junit.Case]] = {path: [] for path in report.files}
    for finding in report.told:
        suites.setdefault(finding.path, []).append(_case(report, finding))
    return junit.as_junit(
        "htppower lint", [(path, cases or [junit.Case("lint", path)]) for path, cases in suites.items()]
    )


def _case(report: LintReport, finding: Finding) -> junit.Case:
    text, _ = report.excerpt(finding)
    return junit.Case(
        f"{finding.rule} {finding.line}:{finding.column}",
        finding.path,
        finding.message if report.counts(finding) else None,
        finding.severity.value,
        f"{finding.place}: {finding.message}\n{text}{_expected(finding)}\nhint: {finding.hint}",
    )


def counts(report: LintReport) -> list[tuple[str, Severity, int]]:
    """Return how often each rule was broken, by severity, the most frequent first; suppressed findings do not count."""
    found = Counter((finding.rule, finding.severity) for finding in report.findings)
    return sorted(((*key, count) for key, count in found.items()), key=lambda each: (-each[2], each[0]))


def counts_as_text(report: LintReport, width: int) -> str:
    """Return the counts as a table, or a line if nothing was found."""
    rows = [(str(count), rule, severity.value, CATALOGUE[rule].says) for rule, severity, count in counts(report)]
    return "\n".join(table(("count", "rule", "severity", "says"), rows, width)) if rows else "no findings"


def counts_as_json(report: LintReport) -> str:
    """Return the counts as JSON."""
    rows = [
        {"rule": rule, "severity": severity.value, "count": count, "expected": CATALOGUE[rule].says}
        for rule, severity, count in counts(report)
    ]
    return json.dumps({"format_version": FORMAT_VERSION, "files": len(report.files), "statistics": rows}, indent=2)


DOCUMENTS = {"json": as_json, "github": as_github, "sarif": as_sarif, "junit": as_junit}

"""Findings as SARIF 2.1.0, which code scanning services import."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from htppower._version import __version__
from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import Finding
    from htppower.rules.rule import Rule
    from htppower.tools.review.lint.report import LintReport
    from htppower.tools.review.lint.suppressions import Suppression

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "htppowerFinding/v1"
_INDEX = {rule: index for index, rule in enumerate(CATALOGUE)}


def as_sarif(report: LintReport) -> str:
    """Return the report, with every rule described, and suppressed findings marked as such."""
    results = [_result(report, finding) for finding in report.told]
    results += [_result(report, suppressed.finding, suppressed.suppression) for suppressed in report.suppressed]
    driver = {
        "name": "htppower",
        "semanticVersion": __version__,
        "rules": [_rule(entry, report.help_uri) for entry in CATALOGUE.values()],
    }
    run = {
        "tool": {"driver": driver},
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

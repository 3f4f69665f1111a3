"""Findings as JUnit XML, which build servers show as tests: a suite for each file, a failure for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from htppower.tools.report.styled import xml_text
from htppower.tools.review.lint.catalogue import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import Finding
    from htppower.tools.review.lint.report import LintReport


def render(report: LintReport) -> str:
    """Return the report. A finding that is not a reason to fail is the output of a test that passed."""
    paths = dict.fromkeys((*report.files, *(finding.path for finding in report.told)))
    suites: dict[str, list[Finding]] = {path: [] for path in paths}
    for finding in report.told:
        suites[finding.path].append(finding)
    total = sum(max(1, len(found)) for found in suites.values())
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="htppower lint" tests="{total}" failures="{_failures(report, report.told)}">')
    for path, findings in suites.items():
        lines += _suite(report, path, findings)
    lines.append("</testsuites>")
    return "\n".join(lines)


def _suite(report: LintReport, path: str, findings: list[Finding]) -> Iterator[str]:
    count = max(1, len(findings))
    yield f'  <testsuite name={_attribute(path)} tests="{count}" failures="{_failures(report, findings)}">'
    if not findings:
        yield f'    <testcase classname={_attribute(path)} name="lint"/>'
    for finding in findings:
        name = f"{finding.rule} {finding.line}:{finding.column}"
        yield f"    <testcase classname={_attribute(path)} name={_attribute(name)}>"
        text, _ = report.excerpt(finding)
        wanted = f"\nexpected: {says}" if (says := expected(finding)) else ""
        said = f"{finding.place}: {finding.message}\n{text}{wanted}\nhint: {finding.hint}"
        if not report.counts(finding):
            yield f"      <system-out>{_text(said)}</system-out>"
        else:
            kind = finding.severity.value
            yield f'      <failure type="{kind}" message={_attribute(finding.message)}>{_text(said)}</failure>'
        yield "    </testcase>"
    yield "  </testsuite>"


def _failures(report: LintReport, findings: Iterable[Finding]) -> int:
    return sum(map(report.counts, findings))


def _attribute(text: str) -> str:
    return quoteattr(xml_text(text))


def _text(text: str) -> str:
    return escape(xml_text(text))

"""Findings for people: place, line with a marker, what is expected, what to do."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from htppower.errors import Severity, printable
from htppower.review.lint.catalogue import CATALOGUE, expected
from htppower.review.styled import styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Finding
    from htppower.review.lint.report import LintReport

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_LONGEST_LINE = 100
_BEFORE_MARKER = 60


def render(report: LintReport) -> str:
    """Return the report, styled."""
    blocks = ["\n".join(_block(report, finding)) for finding in report.told]
    return "\n\n".join((*blocks, _summary(report)))


def _block(report: LintReport, finding: Finding) -> Iterator[str]:
    severity = styled(finding.severity.value, _COLOURS[finding.severity], "bold")
    place = styled(str(finding.place), "bold")
    yield f"{place}: {severity} {finding.rule} {printable(finding.message)}"
    entry = CATALOGUE[finding.rule]
    number = str(finding.line)
    text, column = report.excerpt(finding)
    if text.strip():
        shown, marker = _marked(text, column)
        yield f"  {number} | {shown}"
        yield f"  {' ' * len(number)} | {styled(marker, _COLOURS[finding.severity])}"
    if says := expected(finding):
        yield f"  expected: {says}"
    if finding.hint:
        yield f"  hint: {printable(finding.hint)}"
    yield f"  docs: {entry.page}"


def _marked(text: str, column: int) -> tuple[str, str]:
    """Return a line as a terminal can show it, shortened around the column, and the line with the marker."""
    shown = "".join(_shown(character) for character in text)
    start = max(0, column - 1 - _BEFORE_MARKER) if len(shown) > _LONGEST_LINE else 0
    part = shown[start : start + _LONGEST_LINE]
    left, right = "..." if start else "", "..." if start + _LONGEST_LINE < len(shown) else ""
    before = part[: column - 1 - start]
    width = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in before)
    return f"{left}{part}{right}".rstrip(), f"{' ' * (len(left) + width)}^"


def _shown(character: str) -> str:
    if character == "\t":
        return " "
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _summary(report: LintReport) -> str:
    counts = [(report.count(severity), severity.value) for severity in Severity]
    found = ", ".join(_counted(count, word) for count, word in counts if count) or "no findings"
    lifted = f", {len(report.suppressed)} suppressed" if report.suppressed else ""
    left_out = f"; left out: {len(report.left_out)} that hold neither" if report.left_out else ""
    return f"{_counted(len(report.files), 'file')}: {found}{lifted}{left_out}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"

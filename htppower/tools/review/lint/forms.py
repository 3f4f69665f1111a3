"""Findings as text for people, and the choice of any other form."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from htppower.errors import Severity, printable
from htppower.tools.report.layout import wrapped
from htppower.tools.report.styled import plain, styled
from htppower.tools.report.words import counted
from htppower.tools.review.lint.catalogue import CATALOGUE, expected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Finding
    from htppower.tools.review.lint.run import LintReport

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_LONGEST_LINE = 100
_BEFORE_MARKER = 60
# The margins, the bar and the dots around the line of a file.
_AROUND_EXCERPT = 11


FORMS = ("text", "json", "github", "sarif", "junit")


def render(report: LintReport, form: str, width: int | None = None) -> str:
    """Return the report as one of ``FORMS``.

    ``width`` is the width of text; None breaks no finding, since tools read its first line.
    """
    if form == "text":
        return as_text(report, width)
    from htppower.tools.review.lint.documents import DOCUMENTS  # noqa: PLC0415 - only for these forms

    return DOCUMENTS[form](report)


def as_text(report: LintReport, width: int | None = None) -> str:
    """Return each finding, styled: place, line with a marker, what is expected, what to do; then a summary."""
    blocks = ["\n".join(_block(report, finding, width)) for finding in report.told]
    return "\n\n".join((*blocks, *_wrapped(_summary(report), width)))


def _block(report: LintReport, finding: Finding, width: int | None) -> Iterator[str]:
    severity = styled(finding.severity.value, _COLOURS[finding.severity], "bold")
    place, message = printable(str(finding.place)), printable(finding.message)
    head = f"{styled(place, 'bold')}: {severity} {finding.rule}"
    yield from _head(head, message, width)
    number = str(finding.line)
    text, column = report.excerpt(finding)
    if text.strip():
        longest = _LONGEST_LINE if width is None else min(_LONGEST_LINE, width - len(number) - _AROUND_EXCERPT)
        shown, marker = _marked(text, column, longest)
        yield f"  {number} | {shown}"
        yield f"  {' ' * len(number)} | {styled(marker, _COLOURS[finding.severity])}"
    if says := expected(finding):
        yield from _wrapped(f"  expected: {says}", width)
    if finding.hint:
        yield from _wrapped(f"  hint: {printable(finding.hint)}", width)
    yield f"  why: {CATALOGUE[finding.rule].pointer}"


def _head(head: str, message: str, width: int | None) -> Iterator[str]:
    """Yield place, severity, rule and message. Long text goes on in lines below, and a place is never broken."""
    bare = plain(head)
    first, *rest = _wrapped(f"{bare} {message}", width)
    if first.startswith(bare):
        yield f"{head}{first[len(bare) :]}"
        yield from rest
    else:
        yield head
        yield from _wrapped(f"  {message}", width)


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrapped(text, width, "  ")


def _marked(text: str, column: int, longest: int) -> tuple[str, str]:
    """Return a line as a terminal can show it, shortened around the column, and the line with the marker."""
    shown = "".join(_shown(character) for character in text)
    start = max(0, column - 1 - min(_BEFORE_MARKER, longest // 2)) if len(shown) > longest else 0
    part = shown[start : start + longest]
    left, right = "..." if start else "", "..." if start + longest < len(shown) else ""
    before = part[: column - 1 - start]
    width = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in before)
    return f"{left}{part}{right}".rstrip(), f"{' ' * (len(left) + width)}^"


def _shown(character: str) -> str:
    if character == "\t":
        return " "
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _summary(report: LintReport) -> str:
    counts = [(report.count(severity), severity.value) for severity in Severity]
    found = ", ".join(counted(count, word) for count, word in counts if count) or "no findings"
    lifted = f", {len(report.suppressed)} suppressed" if report.suppressed else ""
    left_out = f"; left out: {len(report.left_out)} that hold neither" if report.left_out else ""
    return f"{counted(len(report.files), 'file')}: {found}{lifted}{left_out}"

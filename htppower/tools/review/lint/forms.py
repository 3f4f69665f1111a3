"""Findings in each of their forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.lint.as_text import as_text

if TYPE_CHECKING:
    from htppower.tools.review.lint.report import LintReport

FORMS = ("text", "json", "github", "sarif", "junit")


def render(report: LintReport, form: str, width: int | None = None) -> str:
    """Return the report as one of ``FORMS``; the modules of all but text are imported only for their form.

    ``width`` is the width of text; None breaks no finding, since tools read its first line.
    """
    if form == "text":
        return as_text(report, width)
    if form == "json":
        from htppower.tools.review.lint.as_json import as_json  # noqa: PLC0415 - only for this form

        return as_json(report)
    if form == "github":
        from htppower.tools.review.lint.as_github import as_github  # noqa: PLC0415 - only for this form

        return as_github(report)
    if form == "sarif":
        from htppower.tools.review.lint.as_sarif import as_sarif  # noqa: PLC0415 - only for this form

        return as_sarif(report)
    from htppower.tools.review.lint.as_junit import as_junit  # noqa: PLC0415 - only for this form

    return as_junit(report)

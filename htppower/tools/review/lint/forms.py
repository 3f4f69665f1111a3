"""Findings in each of their forms."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.review.lint.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from htppower.tools.review.lint.report import LintReport


def _json(report: LintReport, _width: int | None) -> str:
    from htppower.tools.review.lint.as_json import as_json  # noqa: PLC0415 - only for this form

    return as_json(report)


def _github(report: LintReport, _width: int | None) -> str:
    from htppower.tools.review.lint.as_github import as_github  # noqa: PLC0415 - only for this form

    return as_github(report)


def _sarif(report: LintReport, _width: int | None) -> str:
    from htppower.tools.review.lint.as_sarif import as_sarif  # noqa: PLC0415 - only for this form

    return as_sarif(report)


def _junit(report: LintReport, _width: int | None) -> str:
    from htppower.tools.review.lint.as_junit import as_junit  # noqa: PLC0415 - only for this form

    return as_junit(report)


_RENDERERS: Mapping[str, Callable[[LintReport, int | None], str]] = MappingProxyType(
    {"text": as_text, "json": _json, "github": _github, "sarif": _sarif, "junit": _junit}
)
FORMS = tuple(_RENDERERS)


def render(report: LintReport, form: str, width: int | None = None) -> str:
    """Return the report as one of ``FORMS``.

    ``width`` is the width of text; None breaks no finding, since tools read its first line.
    """
    return _RENDERERS[form](report, width)

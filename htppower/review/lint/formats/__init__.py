"""The forms in which findings are told: one function each, from a report to text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.review.lint.report import LintReport

NAMES = ("text", "json", "github", "sarif", "junit")


def render(report: LintReport, name: str) -> str:
    """Return the report in one of the forms ``NAMES``; each is imported only when it is asked for."""
    make: Callable[[LintReport], str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(report)

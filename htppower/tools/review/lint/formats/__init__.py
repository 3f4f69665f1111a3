"""The output formats of findings: one function each, which turns a report into text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.review.lint.report import LintReport

NAMES = ("text", "json", "github", "sarif", "junit")


def render(report: LintReport, name: str, width: int | None = None) -> str:
    """Return the report in one of the formats ``NAMES``, whose module is imported only here.

    ``width`` is the width of text; None breaks no finding, since tools read its first line.
    """
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(report, width) if name == "text" else make(report)

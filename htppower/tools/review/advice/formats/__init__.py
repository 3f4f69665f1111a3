"""The output formats of advice. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.review.advice.advice import Report

NAMES = ("text", "json", "html")


def render(report: Report, name: str, width: int = WIDTH) -> str:
    """Return the report in one of the formats ``NAMES``, whose module is imported here. ``width`` is for text."""
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(report, width) if name == "text" else make(report)

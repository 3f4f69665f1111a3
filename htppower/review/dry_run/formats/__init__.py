"""The output formats of a dry run. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.review.dry_run.report import Report

NAMES = ("text", "json", "svg", "html", "trace")


def render(report: Report, name: str, folders: Sequence[str] = ()) -> str:
    """Return the report in one of the formats ``NAMES``; each is imported only when it is asked for.

    Args:
        report: the run.
        name: the format.
        folders: where the findings of a page look up names, besides the shipped profiles.
    """
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(report, folders) if name == "html" else make(report)

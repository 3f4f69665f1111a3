"""The output formats of a dry run. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.tools.review.dry_run.report import Report

NAMES = ("text", "json", "svg", "html", "trace")


def render(report: Report, name: str, folders: Sequence[str] = (), width: int = WIDTH) -> str:
    """Return the report in one of the formats ``NAMES``, whose module is imported only here.

    Args:
        report: the run.
        name: the format.
        folders: more folders, where the findings of a page look up names.
        width: the width of text.
    """
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    more: dict[str, tuple[object, ...]] = {"html": (folders,), "text": (width,)}
    return make(report, *more.get(name, ()))

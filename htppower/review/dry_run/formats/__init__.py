"""The output formats of a dry run. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.review.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.review.dry_run.report import Report

NAMES = ("text", "json", "svg", "html", "trace")


def render(report: Report, name: str, folders: Sequence[str] = (), width: int = WIDTH) -> str:
    """Return the report in one of the formats ``NAMES``; each is imported only when it is asked for.

    Args:
        report: the run.
        name: the format.
        folders: where the findings of a page look up names, besides the shipped profiles.
        width: how wide text may be.
    """
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    more: dict[str, tuple[object, ...]] = {"html": (folders,), "text": (width,)}
    return make(report, *more.get(name, ()))

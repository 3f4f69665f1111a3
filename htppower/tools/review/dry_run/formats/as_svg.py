"""A run as a picture of its votes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from htppower.tools.review.dry_run.report import Report


def render(report: Report) -> str:
    """Return the picture."""
    return as_svg(timeline(report))

"""A comparison in each of its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH
from htppower.tools.review.diff.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.diff.runs import RunPair

FORMS = ("text", "markdown", "json", "html")


def render(comparison: Comparison, form: str, runs: Sequence[RunPair] | None = None, width: int = WIDTH) -> str:
    """Return the comparison as one of ``FORMS``.

    ``runs`` are the dry runs of the profiles that changed; None to show none. The HTML page draws them. ``width`` is
    the width of text.
    """
    if form == "text":
        return as_text(comparison, runs, width)
    if form == "json":
        from htppower.tools.review.diff.as_json import as_json  # noqa: PLC0415 - only for this form

        return as_json(comparison, runs)
    if form == "markdown":
        from htppower.tools.review.diff.as_tables import as_comment  # noqa: PLC0415 - only for this form

        return as_comment(comparison, runs)
    from htppower.tools.review.diff.as_page import as_page  # noqa: PLC0415 - only for this form

    return as_page(comparison, runs)

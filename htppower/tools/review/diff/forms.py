"""A comparison in each of its forms."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH
from htppower.tools.review.diff.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.diff.runs import RunPair

    _Renderer = Callable[[Comparison, Sequence[RunPair] | None, int], str]


def _markdown(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    from htppower.tools.review.diff.as_tables import as_markdown  # noqa: PLC0415 - only for this form

    return as_markdown(comparison, runs)


def _json(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    from htppower.tools.review.diff.as_json import as_json  # noqa: PLC0415 - only for this form

    return as_json(comparison, runs)


def _html(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    from htppower.tools.review.diff.as_page import as_page  # noqa: PLC0415 - only for this form

    return as_page(comparison, runs)


_RENDERERS: Mapping[str, _Renderer] = MappingProxyType(
    {"text": as_text, "markdown": _markdown, "json": _json, "html": _html}
)
FORMS = tuple(_RENDERERS)


def render(comparison: Comparison, form: str, runs: Sequence[RunPair] | None = None, width: int = WIDTH) -> str:
    """Return the comparison as one of ``FORMS``.

    ``runs`` are the dry runs of the profiles that changed; None to show none. The HTML page draws them. ``width`` is
    the width of text.
    """
    return _RENDERERS[form](comparison, runs, width)

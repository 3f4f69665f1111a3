"""A dry run in each of its forms."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH
from htppower.tools.review.dry_run.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from htppower.tools.review.dry_run.report import Report


def _text(report: Report, _folders: Sequence[str], width: int) -> str:
    return as_text(report, width)


def _json(report: Report, _folders: Sequence[str], _width: int) -> str:
    from htppower.tools.review.dry_run.as_json import as_json  # noqa: PLC0415 - only for this form

    return as_json(report)


def _svg(report: Report, _folders: Sequence[str], _width: int) -> str:
    from htppower.tools.review.pictures.svg import as_svg  # noqa: PLC0415 - only for this form
    from htppower.tools.review.pictures.timeline import timeline  # noqa: PLC0415 - as above

    return as_svg(timeline(report))


def _html(report: Report, folders: Sequence[str], _width: int) -> str:
    from htppower.tools.review.dry_run.as_page import as_page, findings_of  # noqa: PLC0415 - only for this form

    return as_page(report, findings_of(report, folders))


def _trace(report: Report, _folders: Sequence[str], _width: int) -> str:
    from htppower.tools.review.dry_run.as_trace import as_trace  # noqa: PLC0415 - only for this form

    return as_trace(report)


_RENDERERS: Mapping[str, Callable[[Report, Sequence[str], int], str]] = MappingProxyType(
    {"text": _text, "json": _json, "svg": _svg, "html": _html, "trace": _trace}
)
FORMS = tuple(_RENDERERS)


def render(report: Report, form: str, folders: Sequence[str] = (), width: int = WIDTH) -> str:
    """Return the report as one of ``FORMS``. The text loads nothing that draws.

    Args:
        report: the run.
        form: the form.
        folders: more folders, where the findings of a page look up names.
        width: the width of text.
    """
    return _RENDERERS[form](report, folders, width)

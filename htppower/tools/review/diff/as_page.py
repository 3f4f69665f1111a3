"""A comparison as one page: the changes, and both timelines on one scale for every profile that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.as_html import as_html
from htppower.tools.report.blocks import Heading, Pairs, Paragraph, Picture
from htppower.tools.review.diff.as_tables import tables
from htppower.tools.review.dry_run.drawn import SIMULATED, about, summary
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.report.blocks import Block
    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.diff.runs import RunPair


def as_page(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the page."""
    title = f"{comparison.old} -> {comparison.new}"
    unchanged = () if comparison.changes else (Paragraph("No change."),)
    drawn = (block for number, pair in enumerate(runs or (), start=1) for block in _runs(pair, number))
    return as_html((Heading(title, 1), *tables(comparison), *unchanged, *drawn), title, SIMULATED)


def _runs(pair: RunPair, number: int) -> Iterator[Block]:
    yield Heading(pair.name)
    for side, report, other in ((pair.old_is, pair.old, pair.new), ("new", pair.new, pair.old)):
        picture = as_svg(timeline(report), (timeline(other),), f"{side}-{number}", head=False)
        yield Heading(f"{side}: {report.profile.name}, {report.profile.summary}", 3)
        yield Picture(picture, f"{side}: votes of {report.profile.name} over time")
        yield Pairs((*about(report), ("raised", f"{report.raised_us} us of {report.end_us} us"), *summary(report)))

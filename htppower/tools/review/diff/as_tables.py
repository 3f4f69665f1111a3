"""A comparison as tables: Markdown for a comment on a pull request, and a page that also draws the dry runs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.profiles.discovery import shown_path
from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_markdown import as_markdown as blocks_as_markdown
from htppower.tools.report.blocks import Heading, Lines, Pairs, Paragraph, Picture, Table
from htppower.tools.review.diff.as_text import cause_text, in_words, old_text, summary
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.runs import lines
from htppower.tools.review.dry_run.drawn import SIMULATED, about
from htppower.tools.review.dry_run.drawn import summary as summary_of_run
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.report.blocks import Block
    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.compare import Comparison, RunPair

HEAD = ("profile", "when", "field", "old", "new", "where")


def as_markdown(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the comparison as Markdown, with the dry runs as text."""
    beside = (Lines(functools.partial(lines, pair)) for pair in runs or ())
    return blocks_as_markdown((Heading("Power profiles", 1), *tables(comparison), *beside))


def tables(comparison: Comparison) -> Iterator[Block]:
    """Yield the comparison in a line, and a table for each effect, and for what is added, removed and renamed."""
    yield Paragraph(summary(comparison))
    yield from map(Paragraph, in_words(comparison))
    for effect in Effect:
        rows = [(", ".join(names), *_cells(change)) for change, names in comparison.shared(effect)]
        if rows:
            name = effect.value.capitalize()
            yield Heading(name)
            yield Table(name, HEAD, rows, "changes")
    for word, names in (("Added", comparison.added), ("Removed", comparison.removed)):
        if names:
            yield Heading(word)
            yield Table(word, ("name", "file"), ((name, shown_path(path)) for name, path in names.items()))
    if comparison.renamed:
        yield Heading("Renamed")
        renamed = ((each.old, each.new, shown_path(each.path)) for each in comparison.renamed)
        yield Table("Renamed", ("old name", "new name", "file"), renamed)
    for addition in comparison.additions:
        yield Heading(addition.says)
        if addition.changes:
            changes = ((each.effect.value, *_cells(each)) for each in addition.changes)
            yield Table(addition.says, ("effect", *HEAD[1:]), changes, "changes")


def _cells(change: Change) -> tuple[str, ...]:
    return change.when, change.field, old_text(change), change.new, cause_text(change.cause)


def as_page(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the page: the changes, and both timelines on one scale for every profile that changed."""
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
        yield Pairs(
            (*about(report), ("raised", f"{report.raised_us} us of {report.end_us} us"), *summary_of_run(report))
        )

"""A comparison as one page: the changes, and both timelines on one scale for every profile that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.discovery import shown_path
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.formats.as_text import cause_text, old_text, summary
from htppower.tools.review.diff.in_words import in_words
from htppower.tools.review.pictures.page import figure, page
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.tables import about, cell, label_list, table
from htppower.tools.review.pictures.tables import summary as sums
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.diff.additions import Addition
    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.compare import Comparison, SharedChange
    from htppower.tools.review.diff.runs import RunPair
    from htppower.tools.review.dry_run.report import Report

HEAD = ("profile", "when", "field", "old", "new", "effect", "place")


def render(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the page."""
    title = f"{comparison.old} -> {comparison.new}"
    lines = [summary(comparison), *in_words(comparison)]
    for word, names in (("added", comparison.added), ("removed", comparison.removed)):
        lines += [f"{word}: {name}, {shown_path(path)}" for name, path in names.items()]
    lines += [f"renamed: {each.old} -> {each.new}, {shown_path(each.path)}" for each in comparison.renamed]
    rows = [_row(shared) for effect in Effect for shared in comparison.shared(effect)]
    changes = table("What changed, and its effect", HEAD, rows, "changes") if rows else "<p>No change.</p>"
    new = "\n".join(map(_addition, comparison.additions))
    said = "".join(f"<p>{cell(line)}</p>" for line in lines)
    drawn = "\n".join(_runs(pair, number) for number, pair in enumerate(runs or (), start=1))
    return page(
        title, f"<h1>{cell(title)}</h1>\n{said}\n<section><h2>Changes</h2>\n{changes}</section>\n{new}\n{drawn}"
    )


def _row(shared: SharedChange) -> tuple[str, ...]:
    return (", ".join(shared.names), *_said(shared.change))


def _said(change: Change) -> tuple[str, ...]:
    return (change.when, change.field, old_text(change), change.new, change.effect.value, cause_text(change.cause))


def _addition(new: Addition) -> str:
    """Return how a new profile differs from the profile that it extends."""
    rows = [_said(change) for change in new.changes]
    listed = table(new.says, HEAD[1:], rows, "changes") if rows else ""
    return f"<section><h2>{cell(new.says)}</h2>{listed}</section>"


def _runs(pair: RunPair, number: int) -> str:
    sides = ((pair.old_is, pair.old, pair.new), ("new", pair.new, pair.old))
    parts = [f"<section><h2>{cell(pair.name)}</h2>"]
    for side, report, other in sides:
        picture = as_svg(timeline(report), (timeline(other),), f"{side}-{number}", head=False)
        parts.append(f"<h3>{cell(f'{side}: {report.profile.name}, {report.profile.summary}')}</h3>")
        parts.append(figure(picture, f"{side}: votes of {report.profile.name} over time"))
    columns = "".join(f"<div><h3>{side}</h3>{label_list(_costs(report))}</div>" for side, report, _ in sides)
    return "\n".join((*parts, f'<div class="columns">{columns}</div></section>'))


def _costs(report: Report) -> list[tuple[str, str]]:
    return [*about(report), ("raised", f"{report.raised_us} us of {report.end_us} us"), *sums(report)]

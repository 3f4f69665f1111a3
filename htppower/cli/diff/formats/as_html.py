"""A comparison as one page: the changes, and both timelines of every profile that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.cli.diff.formats.as_text import said_place, summary
from htppower.profiles.discovery import shown_path
from htppower.review.pictures.diff import Pair, as_diff_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.review.diff.compare import Comparison
    from htppower.review.diff.runs import RunPair


def render(comparison: Comparison, runs: Sequence[RunPair]) -> str:
    """Return the page."""
    changes = [
        (each.profile, each.when, each.field, each.old, each.new, each.effect.value, said_place(each.place))
        for each in comparison.changes
    ]
    lines = [summary(comparison)]
    lines += [f"added: {name}, {shown_path(path)}" for name, path in comparison.added.items()]
    lines += [f"removed: {name}, {shown_path(path)}" for name, path in comparison.removed.items()]
    pairs = [Pair(pair.name, pair.old, pair.new) for pair in runs]
    return as_diff_page(f"{comparison.old} -> {comparison.new}", pairs, changes, lines)

"""A comparison as Markdown, for a comment on a pull request: a table for every effect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.discovery import shown_path
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.formats.as_text import cause_text, old_text, side_by_side, summary
from htppower.tools.review.diff.in_words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.diff.runs import RunPair

_HEAD_OF_NEW = ("When", "Field", "Old", "New", "Effect", "Where")
_HEAD = ("Profile", "When", "Field", "Old", "New", "Where")


def render(comparison: Comparison, runs: Sequence[RunPair] | None = None) -> str:
    """Return the comparison. Texts are quoted, so that none can break out of its cell."""
    return "\n\n".join((*_parts(comparison), *(f"```text\n{text}\n```" for text in side_by_side(runs))))


def _parts(comparison: Comparison) -> Iterator[str]:
    yield "### Power profiles"
    yield summary(comparison)
    yield from (f"- {_code(sentence)}" for sentence in in_words(comparison))
    for effect in Effect:
        rows = [
            (
                ", ".join(map(_code, shared.names)),
                shared.change.when,
                *map(_code, (shared.change.field, old_text(shared.change), shared.change.new)),
                _code(cause_text(shared.change.cause)),
            )
            for shared in comparison.shared(effect)
        ]
        if rows:
            yield f"**{effect.value.capitalize()}**"
            yield _table(_HEAD, rows)
    for word, names in (("Added", comparison.added), ("Removed", comparison.removed)):
        if names:
            yield f"**{word}**"
            yield _table(("Name", "File"), [(_code(name), _code(shown_path(path))) for name, path in names.items()])
    if comparison.renamed:
        yield "**Renamed**"
        yield _table(
            ("Old name", "New name", "File"),
            [tuple(map(_code, (each.old, each.new, shown_path(each.path)))) for each in comparison.renamed],
        )
    for addition in comparison.additions:
        yield _code(addition.says)
        if addition.changes:
            yield _table(_HEAD_OF_NEW, map(_row_of_new, addition.changes))


def _row_of_new(change: Change) -> tuple[str, ...]:
    values = map(_code, (change.field, old_text(change), change.new))
    return change.when, *values, change.effect.value, _code(cause_text(change.cause))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _code(text: str) -> str:
    """Return a text as code in a cell, in a fence longer than any run of backticks in it."""
    text = printable(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {text} " if text.startswith("`") or text.endswith("`") else text
    return f"{fence}{padded}{fence}".replace("|", "\\|") if text else ""

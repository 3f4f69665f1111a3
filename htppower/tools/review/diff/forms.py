"""A comparison in each of its forms, and as JSON, format version 1."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.report.layout import WIDTH
from htppower.tools.review.diff.as_text import as_text, in_words
from htppower.tools.review.diff.effects import Effect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.compare import Comparison, RunPair

    _Renderer = Callable[[Comparison, Sequence[RunPair] | None, int], str]

FORMAT_VERSION = 1


def _change(change: Change) -> dict[str, Any]:
    cause = {**change.cause.place._asdict(), "removed": change.cause.removed}
    places = {"place": change.place._asdict(), "old_place": change.old_place._asdict(), "cause": cause}
    return {**attrs.asdict(change, recurse=False), **places}


def _json(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    """Return the comparison, with the dry runs if there are any. Keys keep their order between versions."""
    import json  # noqa: PLC0415 - only for this form

    beside = {
        new.name: {"beside": new.old.name, "extends": new.extends, "changes": list(map(_change, new.changes))}
        for new in comparison.additions
    }
    document: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "old": comparison.old,
        "new": comparison.new,
        "same": comparison.same,
        "changes": list(map(_change, comparison.changes)),
        "added": [{"name": name, "path": path, **beside.get(name, {})} for name, path in comparison.added.items()],
        "removed": [{"name": name, "path": path} for name, path in comparison.removed.items()],
        "renamed": [{"old": each.old, "new": each.new, "path": each.path} for each in comparison.renamed],
        "summary": {effect.value: len(comparison.of_effect(effect)) for effect in Effect},
    }
    if words := in_words(comparison):
        document["in_words"] = list(words)
    if runs is not None:
        from htppower.tools.review.diff.runs import as_dicts  # noqa: PLC0415 - only if there are dry runs

        document["timelines"] = as_dicts(runs)
    return json.dumps(document, indent=2)


def _markdown(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    from htppower.tools.review.diff.as_tables import as_markdown  # noqa: PLC0415 - only for this form

    return as_markdown(comparison, runs)


def _html(comparison: Comparison, runs: Sequence[RunPair] | None, _width: int) -> str:
    from htppower.tools.review.diff.as_tables import as_page  # noqa: PLC0415 - only for this form

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

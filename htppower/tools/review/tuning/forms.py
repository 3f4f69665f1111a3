"""The results of tuning in each of their forms."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Code, Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import counted, time
from htppower.tools.review.traces.words import more_sessions
from htppower.tools.review.tuning.as_json import as_json
from htppower.tools.review.tuning.charts import cost_caption, cost_chart, front_chart, gap_caption, gap_chart
from htppower.tools.review.tuning.words import (
    HEAD,
    advice_line,
    aim_line,
    counted_sessions,
    firm_lines,
    front_line,
    impossible_lines,
    lines,
    together_line,
    verified_line,
)
from htppower.tools.tuning.profile_file import profile_text, tuned_name
from htppower.tools.tuning.sensitivity import in_words, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.tune import Tuned, Tuning

_FOOT = "Energy is computed from a device model; nothing was measured here."
# The most sessions of a page. The JSON has all.
_MOST_DRAWN = 12


def _text(tuning: Tuning, width: int) -> str:
    return as_text(_blocks(tuning, "text"), width)


def _json(tuning: Tuning, _width: int) -> str:
    return as_json(tuning)


def _html(tuning: Tuning, _width: int) -> str:
    title = Heading("Tuned from a recording", 1)
    return as_html((title, *_blocks(tuning, "html")), f"Tuned: {tuning.trace.source}", _FOOT)


_RENDERERS: Mapping[str, Callable[[Tuning, int], str]] = MappingProxyType({"text": _text, "json": _json, "html": _html})
FORMS = tuple(_RENDERERS)


def render(tuning: Tuning, form: str, width: int = WIDTH) -> str:
    """Return the results as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](tuning, width)


def _blocks(tuning: Tuning, form: str) -> Iterator[Block]:
    count = sum(each.advice.session.begins_us.size for each in tuning.sessions)
    yield Pairs(
        (
            ("recording", f"{tuning.trace.source}: {counted_sessions(tuning)}, {counted(count, 'inference')}"),
            ("device", f"{tuning.model.device}: {tuning.model.summary}"),
            ("wanted", aim_line(tuning)),
            *(("note", note) for note in tuning.trace.notes),
        )
    )
    most = _MOST_DRAWN if form == "html" else len(tuning.sessions)
    for place, tuned in enumerate(tuning.sessions[:most]):
        yield from _session(tuning, tuned)
        if form == "html":
            yield from _drawn(tuning, tuned, f"session-{place}")
        else:
            yield Pairs([("assumes", "\n".join(in_words(tuned.assumptions)))] if tuned.assumptions else [])
        notes = [("note", note) for note in tuned.advice.notes]
        yield Pairs((*notes, *(("replayed", verified_line(each)) for each in tuned.verified)))
    if len(tuning.sessions) > most:
        yield Paragraph(more_sessions(len(tuning.sessions) - most, "drawn"))
    together = together_line(tuning)
    if together is not None:
        yield Heading("All sessions")
        replayed = (("replayed", verified_line(each)) for each in tuning.verified)
        yield Pairs((("together", together), *replayed))


def _session(tuning: Tuning, tuned: Tuned) -> Iterator[Block]:
    session = tuned.advice.session
    span_us = int(session.ends_us.max() - session.begins_us[0])
    yield Heading(f"{session.name}: {counted(session.begins_us.size, 'inference')} in {time(span_us)}")
    advice = [
        ("advice", advice_line(tuning, tuned)),
        *firm_lines(tuned),
        *(("nearest", line) for line in impossible_lines(tuned)),
    ]
    yield Pairs(advice, {"advice": "green" if tuned.best is not None else "red"})
    rows = [each.cells(tuned.advice.present) for each in lines(tuned)]
    yield Table("The present, the advised, and points of the front", HEAD, rows, "front")
    yield Pairs([("front", front_line(tuned))])


def _drawn(tuning: Tuning, tuned: Tuned, name: str) -> Iterator[Block]:
    """Yield what only a page shows: the charts, the assumptions as a table, and the advised profile."""
    yield Heading("Energy and latency", 3)
    yield Paragraph("The line joins the choices that are best in energy and p99.")
    yield Picture(front_chart(tuned, f"{name}-front"), "Energy over p99 latency")
    yield Heading("The cost of each sustain time", 3)
    yield Paragraph(cost_caption(tuned))
    yield Picture(cost_chart(tuned, f"{name}-cost"), "Energy over the sustain time")
    if gaps := gap_chart(tuned, f"{name}-gaps"):
        yield Heading("Gaps", 3)
        yield Paragraph(gap_caption(tuned))
        yield Picture(gaps, "Histogram of the gaps")
    if tuned.assumptions:
        yield Heading("Assumptions", 3)
        yield Paragraph("Values that were not measured. Between these bounds of one value the advice stays the same.")
        rows = [
            (each.name, number(each.quantity.value), _bound(each.down), _bound(each.up), each.quantity.of)
            for each in sorted(tuned.assumptions, key=lambda each: not each.matters)
        ]
        head = ("value", "assumed", "same down to", "same up to", "of what")
        yield Table("Assumed values of the device model", head, rows, "assumed")
    if tuned.best is not None:
        yield Heading(f"{tuned_name(tuned.advice.session.name)}.yaml", 3)
        yield Code(profile_text(tuning, tuned), "yaml")


def _bound(value: float | None) -> str:
    return "whole range" if value is None else number(value)

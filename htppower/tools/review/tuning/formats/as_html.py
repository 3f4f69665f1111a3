"""The results of tuning as one page: self-contained, without a script, light or dark like the reader's system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.svg import element
from htppower.tools.report.words import counted
from htppower.tools.review.pictures.page import figure, page
from htppower.tools.review.pictures.tables import cell, label_list, table
from htppower.tools.review.traces.words import more_sessions
from htppower.tools.review.tuning.charts import cost_caption, cost_chart, front_chart, gap_caption, gap_chart
from htppower.tools.review.tuning.table import HEAD, lines
from htppower.tools.review.tuning.words import (
    advice_line,
    aim_line,
    counted_sessions,
    firm_lines,
    front_line,
    impossible_lines,
    together_line,
    verified_line,
)
from htppower.tools.tuning.profile_file import profile_text, tuned_name
from htppower.tools.tuning.sensitivity import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.sensitivity import Assumption
    from htppower.tools.tuning.tune import Tuned, Tuning

_SAYS = "Energy is computed from a device model; nothing was measured here."
_MOST_DRAWN = 12


def render(tuning: Tuning) -> str:
    """Return the page."""
    body = "\n".join((*_head(tuning), *_sessions(tuning)))
    return page(f"Tuned: {tuning.trace.source}", body, _SAYS)


def _head(tuning: Tuning) -> Iterator[str]:
    count = sum(each.advice.session.begins_us.size for each in tuning.sessions)
    yield "<h1>Tuned from a recording</h1>"
    yield f'<p class="summary">{cell(tuning.trace.source)}</p>'
    together = together_line(tuning)
    yield label_list(
        [
            ("recording", f"{counted_sessions(tuning)}, {counted(count, 'inference')}"),
            ("device", f"{tuning.model.device}: {tuning.model.summary}"),
            ("wanted", aim_line(tuning)),
            *([] if together is None else [("together", together)]),
            *(("replayed", verified_line(each)) for each in tuning.verified),
            *(("note", note) for note in tuning.trace.notes),
        ]
    )


def _sessions(tuning: Tuning) -> Iterator[str]:
    for place, tuned in enumerate(tuning.sessions[:_MOST_DRAWN]):
        yield f"<section><h2>{cell(tuned.advice.session.name)}</h2>"
        yield from _session(tuning, tuned, f"session-{place}")
        yield "</section>"
    left_out = len(tuning.sessions) - _MOST_DRAWN
    if left_out > 0:
        yield f"<p>{more_sessions(left_out, 'drawn')}</p>"


def _session(tuning: Tuning, tuned: Tuned, name: str) -> Iterator[str]:
    advice = tuned.advice
    yield f"<p><strong>{cell(advice_line(tuning, tuned))}</strong></p>"
    yield from (f"<p>{cell(line)}</p>" for line in impossible_lines(tuned))
    yield label_list(firm_lines(tuned))
    rows = [each.cells(advice.present) for each in lines(tuned)]
    yield table("The present, the advised, and points of the front", HEAD, rows, "front")
    yield "<h3>Energy and latency</h3>"
    yield f"<p>{cell(front_line(tuned))}. The line joins the choices that are best in energy and p99.</p>"
    yield figure(front_chart(tuned, f"{name}-front"), "Energy over p99 latency")
    yield "<h3>The cost of each sustain time</h3>"
    yield f"<p>{cell(cost_caption(tuned))}</p>"
    yield figure(cost_chart(tuned, f"{name}-cost"), "Energy over the sustain time")
    gaps = gap_chart(tuned, f"{name}-gaps")
    if gaps:
        yield "<h3>Gaps</h3>"
        yield f"<p>{cell(gap_caption(tuned))}</p>"
        yield figure(gaps, "Histogram of the gaps")
    if tuned.assumptions:
        yield "<h3>Assumptions</h3>"
        yield "<p>Values that were not measured. Between these bounds of one value the advice stays the same.</p>"
        head = ("value", "assumed", "same down to", "same up to", "of what")
        rows = [_assumption(each) for each in sorted(tuned.assumptions, key=lambda each: not each.matters)]
        yield table("Assumed values of the device model", head, rows, "assumed")
    if tuned.best is not None:
        yield f"<h3>{cell(tuned_name(advice.session.name))}.yaml</h3>"
        yield element("pre", cell_text(profile_text(tuning, tuned)), tabindex=0)
    notes = [("note", note) for note in advice.notes]
    yield label_list([*(("replayed", verified_line(each)) for each in tuned.verified), *notes])


def cell_text(said: str) -> str:
    """Return a text with its line breaks, escaped."""
    return f"<code>{cell(said).replace('<br>', chr(10))}</code>"


def _assumption(each: Assumption) -> tuple[str, ...]:
    down = "whole range" if each.down is None else number(each.down)
    up = "whole range" if each.up is None else number(each.up)
    return each.name, number(each.quantity.value), down, up, each.quantity.of

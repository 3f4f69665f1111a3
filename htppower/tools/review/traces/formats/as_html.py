"""The content of a trace as one page: the picture, and each session in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.pictures.page import figure, page
from htppower.tools.review.pictures.tables import cell, label_list, table
from htppower.tools.review.traces.picture import as_svg
from htppower.tools.review.traces.words import TIME_OUT_HEADINGS, facts, headline, more_sessions, time_outs, title

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.describe import SessionDescription, TraceDescription
    from htppower.tools.tuning.traces.trace import Trace

_FOOT = "It reads a trace; nothing was sent to hardware."
# The most sessions to show. The rest are in the JSON.
_MOST_TOLD = 40


def render(trace: Trace, described: TraceDescription) -> str:
    """Return the page: self-contained, without a script, light or dark like the reader's system."""
    left_out = len(described.sessions) - _MOST_TOLD
    body = "\n".join(
        (
            f"<h1>{cell(described.source)}</h1>",
            f'<p class="summary">{cell(headline(described))}</p>',
            *(f"<p>{cell(note)}</p>" for note in described.notes),
            figure(as_svg(trace, described, head=False), "When inferences ran, and how long the gaps between them are"),
            *map(_session, described.sessions[:_MOST_TOLD]),
            *([f"<p>{more_sessions(left_out, 'shown')}</p>"] * (left_out > 0)),
        )
    )
    return page(f"Trace: {described.source}", body, _FOOT)


def _session(session: SessionDescription) -> str:
    rows = table("The effect of a fixed sustain time", TIME_OUT_HEADINGS, time_outs(session), "time-outs")
    return f"<section><h2>{cell(title(session))}</h2>\n{label_list(list(facts(session)))}\n{rows}</section>"

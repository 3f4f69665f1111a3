"""The content of a trace in each of its forms. The JSON has format version 1."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Bars, Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import duration, percent, time
from htppower.tools.review.tuning import clock_lane
from htppower.tools.review.tuning.trace_picture import as_svg
from htppower.tools.review.tuning.trace_words import facts, headline, more_sessions, title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.traces.describe import SessionDescription, TraceDescription
    from htppower.tools.tuning.traces.trace import Trace

_FOOT = "It reads a trace; nothing was sent to hardware."
# The most sessions to show. The rest are in the JSON.
_MOST_TOLD = {"text": 12, "html": 40}
# The most rows of a histogram. Neighbours are counted together.
_MOST_ROWS = 14


def _blocks(trace: Trace, described: TraceDescription, form: str) -> Iterator[Block]:
    yield Heading(described.source, 1)
    yield Paragraph(headline(described))
    yield Pairs(("note", note) for note in described.notes)
    if form == "html":
        says = "When inferences ran, and how long the gaps between them are"
        yield Picture(as_svg(trace, described, head=False), says)
    most = _MOST_TOLD[form]
    for session in described.sessions[:most]:
        yield Heading(title(session))
        yield Pairs(facts(session))
        # The picture has the histogram of a page.
        if form == "text":
            yield _histogram(session)
        head = ("sustain time", "warm", "share", "up while idle")
        rows = (
            (duration(each.time_out_us), f"{each.warm:,}", percent(each.share), time(each.idle_us))
            for each in session.time_outs
        )
        yield Table("The effect of a fixed sustain time", head, rows, numbers=True)
    for clock in trace.clocks:
        yield Heading(clock_lane.clock_title(clock))
        yield clock_lane.table(clock)
    if len(described.sessions) > most:
        yield Paragraph(more_sessions(len(described.sessions) - most, "shown"))


def _histogram(session: SessionDescription) -> Bars:
    """Return a bar for each length of gaps."""
    octaves = session.octaves
    step = -(-len(octaves) // _MOST_ROWS) or 1
    groups = [octaves[place : place + step] for place in range(0, len(octaves), step)]
    counts = [sum(each.count for each in group) for group in groups]
    total, most = sum(counts), max(counts, default=0)
    rows = [
        ((f"{time(group[0].from_us)} to {time(group[-1].to_us)}", f"{count:,}", percent(count / total)), count / most)
        for group, count in zip(groups, counts, strict=True)
    ]
    return Bars("Gaps by length", rows)


def _json(trace: Trace, described: TraceDescription) -> str:
    """Return the report. Keys keep their order from one version to the next. Times are in us, shares from 0 to 1."""
    document = {
        "format_version": 1,
        "says": headline(described),
        "source": described.source,
        "format": described.format,
        "notes": list(described.notes),
        "inferences": described.inferences,
        "sessions": [_session_json(each) for each in described.sessions],
    }
    if trace.clocks:
        document["clocks"] = [clock_lane.as_json(each) for each in trace.clocks]
    return json.dumps(document, indent=2)


def _session_json(session: SessionDescription) -> dict[str, Any]:
    told = attrs.asdict(session)
    if session.period is not None:
        told["period"] = {**told["period"], "hz": round(session.period.hz, 6)}
    return {name: _rounded(value) for name, value in told.items()}


def _rounded(value: object) -> object:
    """Return a value whose fractions have six decimals."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


_RENDERERS: Mapping[str, Callable[[Trace, TraceDescription, int], str]] = MappingProxyType(
    {
        "text": lambda trace, described, width: as_text(_blocks(trace, described, "text"), width),
        "json": lambda trace, described, _: _json(trace, described),
        "html": lambda trace, described, _: as_html(
            _blocks(trace, described, "html"), f"Trace: {described.source}", _FOOT
        ),
        "svg": lambda trace, described, _: as_svg(trace, described),
    }
)
FORMS = tuple(_RENDERERS)


def render(trace: Trace, described: TraceDescription, form: str, width: int = WIDTH) -> str:
    """Return a trace as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](trace, described, width)

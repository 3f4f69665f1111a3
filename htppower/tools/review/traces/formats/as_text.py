"""The content of a trace, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH, aligned, labelled, padded, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.report.words import percent, time
from htppower.tools.review.traces.words import TIME_OUT_HEADINGS, facts, headline, more_sessions, time_outs, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.tuning.traces.describe import Octave, SessionDescription, TraceDescription

# The most sessions to show. The rest are in the JSON.
_MOST_TOLD = 12
# The most rows of a histogram. Neighbours are counted together.
_MOST_ROWS = 14
_BAR_LEAST = 10
_BAR_MOST = 40


def render(described: TraceDescription, width: int = WIDTH) -> str:
    """Return the report, styled, in lines of the given width."""
    head = [*wrapped(described.source, width, "  "), *wrapped(headline(described), width)]
    blocks = [[styled(head[0], "bold"), *head[1:], *(line for note in described.notes for line in _note(note, width))]]
    blocks += [list(_session(each, width)) for each in described.sessions[:_MOST_TOLD]]
    left_out = len(described.sessions) - _MOST_TOLD
    if left_out > 0:
        blocks.append(wrapped(more_sessions(left_out, "shown"), width))
    return "\n\n".join("\n".join(block) for block in blocks)


def _note(note: str, width: int) -> Iterator[str]:
    yield from wrapped(f"note: {note}", width, "  ")


def _session(session: SessionDescription, width: int) -> Iterator[str]:
    for place, line in enumerate(wrapped(title(session), width, "  ")):
        yield line if place else styled(line, "bold")
    for label, said in facts(session):
        yield from labelled(label, said, width)
    if session.octaves:
        yield ""
        yield from _histogram(session.octaves, width)
    yield ""
    rows = [TIME_OUT_HEADINGS, *time_outs(session)]
    widths = [max(map(shown_width, column)) for column in zip(*rows, strict=True)]
    right = [tuple(f"{cell:>{wide}}" for cell, wide in zip(row, widths, strict=True)) for row in rows]
    for line in aligned(right):
        yield from wrapped(line, width)


def _histogram(octaves: Sequence[Octave], width: int) -> Iterator[str]:
    """Yield a line for each length of gaps, with a bar if there is room."""
    step = -(-len(octaves) // _MOST_ROWS)
    groups = [octaves[place : place + step] for place in range(0, len(octaves), step)]
    total = sum(each.count for each in octaves)
    counts = [sum(each.count for each in group) for group in groups]
    names = [f"{time(group[0].from_us)} to {time(group[-1].to_us)}" for group in groups]
    names_wide = max(map(shown_width, (*names, "gaps")))
    counts_wide = max(len(f"{count:,}") for count in counts)
    room = min(_BAR_MOST, width - names_wide - counts_wide - 14)
    for name, count in zip(names, counts, strict=True):
        bar = "#" * max(round(count / max(counts) * room), 1 if count else 0) if room >= _BAR_LEAST else ""
        line = f"{padded(name, names_wide)}  {count:>{counts_wide},}  {percent(count / total):>8}"
        if shown_width(line) > width:
            yield from wrapped(f"{name} {count:,}", width, "  ")
        else:
            yield f"{line}  {styled(bar, 'blue')}" if bar else line

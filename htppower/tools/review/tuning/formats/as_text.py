"""The results of tuning, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH, aligned, labelled, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.report.words import counted, rough_duration
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
from htppower.tools.tuning.sensitivity import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.tune import Tuned, Tuning

_INDENT = "  "


def render(tuning: Tuning, width: int = WIDTH) -> str:
    """Return the results, styled, in lines of the given width."""
    blocks = [list(_head(tuning, width))]
    blocks += [list(_session(tuning, each, width)) for each in tuning.sessions]
    together = together_line(tuning)
    if together is not None:
        block = list(labelled("together", together, width, indent=_INDENT))
        for verified in tuning.verified:
            block += labelled("replayed", verified_line(verified), width, indent=_INDENT)
        blocks.append(block)
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(tuning: Tuning, width: int) -> Iterator[str]:
    count = sum(each.advice.session.begins_us.size for each in tuning.sessions)
    yield from labelled(
        "recording", f"{tuning.trace.source}: {counted_sessions(tuning)}, {counted(count, 'inference')}", width
    )
    yield from labelled("device", f"{tuning.model.device}: {tuning.model.summary}", width)
    yield from labelled("wanted", aim_line(tuning), width)
    for note in tuning.trace.notes:
        yield from labelled("note", note, width)


def _session(tuning: Tuning, tuned: Tuned, width: int) -> Iterator[str]:
    session = tuned.advice.session
    span_us = int(session.ends_us.max() - session.begins_us[0])
    inferences = counted(session.begins_us.size, "inference")
    for line in wrapped(f"{session.name}: {inferences} in {rough_duration(span_us)}", width):
        yield styled(line, "bold")
    colour = "green" if tuned.best is not None else "red"
    first, *rest = labelled("advice", advice_line(tuning, tuned), width, indent=_INDENT)
    yield styled(first, colour)
    yield from rest
    for word, said in firm_lines(tuned):
        yield from labelled(word, said, width, indent=_INDENT)
    for line in impossible_lines(tuned):
        yield from labelled("nearest", line, width, indent=_INDENT)
    yield ""
    yield from _table(tuned, width)
    yield ""
    yield from labelled("front", front_line(tuned), width, indent=_INDENT)
    for place, said in enumerate(in_words(tuned.assumptions)):
        yield from labelled("" if place else "assumes", said, width, indent=_INDENT)
    for note in tuned.advice.notes:
        yield from labelled("note", note, width, indent=_INDENT)
    for verified in tuned.verified:
        yield from labelled("replayed", verified_line(verified), width, indent=_INDENT)


def _table(tuned: Tuned, width: int) -> Iterator[str]:
    """Yield the table. If it is too wide, yield each of its lines with the rest below it."""
    rows = [each.cells(tuned.advice.present) for each in lines(tuned)]
    whole = aligned([HEAD, *rows])
    if max(map(shown_width, whole)) <= width:
        yield from (line.rstrip() for line in whole)
        return
    yield from (line.rstrip() for line in _in_two(rows, width))


def _in_two(rows: list[tuple[str, ...]], width: int) -> Iterator[str]:
    """Yield the figures as a table, with the profile and the sustain time of each in a line above."""
    figures = aligned([(HEAD[0], *HEAD[3:]), *((row[0], *row[3:]) for row in rows)])
    head, *below = figures
    yield from wrapped(head, width)
    for row, line in zip(rows, below, strict=True):
        yield from wrapped(line, width, _INDENT)
        yield from wrapped(f"    {row[1]}, sustain {row[2]}", width, _INDENT)

"""Advice for people: what was measured, the advice with its evidence, and what else was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.tools.report.layout import WIDTH, labelled, padded, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.report.words import percent, time
from htppower.tools.review.advice.advice import Confidence
from htppower.tools.review.advice.described import about, headline, notes, to_do
from htppower.tools.review.advice.numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.advice.advice import Nothing, Report, Told
    from htppower.tools.review.advice.measurement import Measurement

_COLOURS = {Confidence.HIGH: "green", Confidence.MEDIUM: "yellow", Confidence.LOW: "cyan"}
_BAR_LEAST = 10
_BAR_MOST = 40
# The width of the two columns of the shares, time and share, with their gaps.
_FIGURES = 20
# The JSON has the graphs whose parts are not drawn.
_MOST_DRAWN = 12


def render(report: Report, width: int = WIDTH) -> str:
    """Return the report, styled, in lines of the given width."""
    blocks = [list(_measured(each, width)) for each in report.measurements[:_MOST_DRAWN]]
    left_out = len(report.measurements) - _MOST_DRAWN
    if left_out > 0:
        blocks.append(wrapped(f"{left_out} more measurements are not drawn here; --format json has every one.", width))
    blocks.append([styled(line, "bold") for line in wrapped(headline(report), width)])
    blocks += [list(_told(number, each, width)) for number, each in enumerate(report.told, start=1)]
    if not report.simulated:
        blocks.append(list(_looked_at(report.looked_at, width)))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _measured(measured: Measurement, width: int) -> Iterator[str]:
    for place, line in enumerate(wrapped(measured.name, width, "  ")):
        yield styled(line, "bold") if not place else line
    yield from wrapped(f"  {about(measured)}", width)
    if not measured.simulated:
        yield from _shares(measured, width)
    for note in dict.fromkeys(notes(measured)):
        yield from wrapped(f"  {note}", width)


def _shares(measured: Measurement, width: int) -> Iterator[str]:
    """Yield a line for each part of the inference, with a bar if there is room."""
    parts = Numbers(measured).parts()
    if not parts:
        return
    names = max(shown_width(part.name) for part in parts)
    room = min(_BAR_MOST, width - names - _FIGURES - 4)
    for part in parts:
        figures = f"{time(part.time_us):>9}  {percent(part.share):>6}"
        line = f"  {padded(part.name, names)}  {figures}"
        bar = "#" * round(part.share * room) if room >= _BAR_LEAST else ""
        if shown_width(line) > width:
            yield from wrapped(f"  {part.name} {time(part.time_us)} {percent(part.share)}", width, "  ")
        else:
            yield f"{line}  {styled(bar, 'blue')}" if bar else line


def _told(number: int, told: Told, width: int) -> Iterator[str]:
    advice = told.advice
    head = f"{number}. {advice.rule.id}  {advice.rule.says}"
    lines = wrapped(head, width, "   ")
    yield from (styled(line, "bold") for line in lines)
    sure = advice.confidence.value
    gain = f", at most {time(advice.gain_us)} of an inference" if advice.gain_us else ""
    first, *rest = labelled("confidence", f"{sure}{gain}", width)
    yield first.replace(f"  {sure}", f"  {styled(sure, _COLOURS[advice.confidence], 'bold')}", 1)
    yield from rest
    several = len(told.about) > 1
    for place, (measured, each) in enumerate(told.about):
        said = " ".join(each.evidence)
        label = "" if place else "evidence"
        yield from labelled(label, f"{measured.name}: {said}" if several else said, width, indent="  ")
    yield from labelled("why", advice.rule.why, width)
    for place, line in enumerate(to_do(told)):
        yield from labelled("" if place else "do", line, width, indent="  ")
    yield from labelled("source", f"{advice.rule.basis}; {advice.rule.pointer}", width)


def _looked_at(looked_at: Sequence[tuple[Measurement, Sequence[Nothing]]], width: int) -> Iterator[str]:
    """Yield what each rule without advice has looked at, and which rules lack numbers."""
    several = len(looked_at) > 1
    for title, lacking in (("also checked", False), ("not checked, for lack of numbers", True)):
        told = [
            (measured, [each for each in nothing if each.lacking is lacking])
            for measured, nothing in looked_at[:_MOST_DRAWN]
        ]
        if any(nothing for _, nothing in told):
            yield styled(title, "dim")
        for measured, nothing in told:
            if several and nothing:
                yield from wrapped(f"  {printable(measured.name)}", width, "  ")
            for each in nothing:
                yield from (f"  {line}" for line in labelled(each.rule.id, each.because, width - 2, 7))

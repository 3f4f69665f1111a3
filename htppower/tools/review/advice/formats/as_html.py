"""Advice as one page: a picture of where the time goes, the advice with its evidence, and what else was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import time
from htppower.tools.review.advice.described import about, headline, notes, to_do
from htppower.tools.review.advice.numbers import Numbers
from htppower.tools.review.pictures.page import figure, page
from htppower.tools.review.pictures.shares import Bar, Share, shares_svg
from htppower.tools.review.pictures.tables import cell, label_list, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.advice.advice import Report, Told
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.numbers import Part

_TITLE = "Power advice"
_FOOT = "It reads what profilers have measured; nothing was sent to hardware."
# How a part is drawn, by the beginning of its name. The last part of an inference is the work.
_KINDS = (("host", "host"), ("RPC and", "way"), ("HTP, outside", "around"), ("HTP, waiting", "waits"))
# The JSON has the measurements whose bars are not drawn.
_MOST_DRAWN = 40


def render(report: Report) -> str:
    """Return the page: self-contained, without a script, light or dark like the reader's system."""
    sections = [("Advice", "\n".join(_told(number, each) for number, each in enumerate(report.told, start=1)))]
    if report.looked_at:
        sections.append(("Also checked", _looked_at(report)))
    shown = report.measurements[:_MOST_DRAWN]
    sections.append(("What was measured", "\n".join((*map(_measured, shown), *_notes(shown)))))
    body = "\n".join(
        (
            f"<h1>{_TITLE}</h1>",
            f'<p class="summary">{cell(headline(report))}</p>',
            *_picture(report.measurements),
            *(f"<section><h2>{name}</h2>\n{markup}</section>" for name, markup in sections if markup),
        )
    )
    return page(f"{_TITLE}: {', '.join(dict.fromkeys(each.source for each in report.measurements))}", body, _FOOT)


def _picture(measurements: Sequence[Measurement]) -> Iterator[str]:
    bars = [bar for bar in map(_bar, measurements[:_MOST_DRAWN]) if bar.shares]
    if bars:
        yield figure(shares_svg(bars, "Where the time of an inference goes"), "Where the time of an inference goes")
    if len(measurements) > _MOST_DRAWN:
        yield f"<p>{len(measurements) - _MOST_DRAWN} more are not drawn here; --format json has every one.</p>"


def _bar(measured: Measurement) -> Bar:
    parts = () if measured.simulated else Numbers(measured).parts()
    shares = (_share(part, last=part is parts[-1]) for part in parts)
    return Bar(measured.name, time(Numbers(measured).whole_us), tuple(shares))


def _share(part: Part, *, last: bool) -> Share:
    kind = next((kind for begin, kind in _KINDS if part.name.startswith(begin)), "around")
    return Share(part.name, "work" if last else kind, part.share, time(part.time_us))


def _told(number: int, told: Told) -> str:
    advice = told.advice
    several = len(told.about) > 1
    evidence = [f"{f'{measured.name}: ' if several else ''}{' '.join(each.evidence)}" for measured, each in told.about]
    gain = [("gain", f"at most {time(advice.gain_us)} of an inference")] if advice.gain_us else []
    labels = [
        ("rule", f"{advice.rule.id}, {advice.rule.pointer}"),
        ("confidence", advice.confidence.value),
        *gain,
        ("evidence", "\n".join(evidence)),
        ("why", advice.rule.why),
        ("do", "\n".join(to_do(told))),
        ("source", f"{advice.rule.basis}: {advice.rule.source}"),
    ]
    return f"<h3>{number}. {cell(advice.rule.says)}</h3>\n{label_list(labels)}"


def _looked_at(report: Report) -> str:
    rows = [
        (measured.name, each.rule.id, each.rule.says, each.because)
        for measured, nothing in report.looked_at
        for each in nothing
    ]
    head = ("measured", "rule", "it would report", "why it does not")
    return table("Rules without advice", head, rows, "findings") if rows else ""


def _measured(measured: Measurement) -> str:
    return f"<h3>{cell(measured.name)}</h3>\n{label_list([('is', about(measured))])}"


def _notes(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield each note on the numbers once, with the measurements that it is about unless that is all."""
    about_which: dict[str, list[str]] = {}
    for measured in measurements:
        for note in dict.fromkeys(notes(measured)):
            about_which.setdefault(note, []).append(measured.name)
    said = [
        ("note", note if len(names) == len(measurements) else f"{note}\nOf {'; '.join(names)}.")
        for note, names in about_which.items()
    ]
    if said:
        yield f"<h3>About these numbers</h3>\n{label_list(said)}"

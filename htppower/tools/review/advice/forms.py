"""Advice in each of its forms: what was measured, the advice with its evidence, and what else was checked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Bars, Heading, Pairs, Paragraph, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import counted, percent, time
from htppower.tools.review.advice.advice import Confidence
from htppower.tools.review.advice.as_json import as_json
from htppower.tools.review.advice.described import about, headline, notes, to_do
from htppower.tools.review.advice.numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from htppower.tools.report.blocks import Block
    from htppower.tools.review.advice.advice import Report
    from htppower.tools.review.advice.measurement import Measurement

_TITLE = "Power advice"
_FOOT = "It reads what profilers have measured; nothing was sent to hardware."
_COLOURS = {Confidence.HIGH: "green", Confidence.MEDIUM: "yellow", Confidence.LOW: "cyan"}
# The JSON has the measurements whose parts are not drawn.
_MOST_DRAWN = {"text": 12, "html": 40}


def _text(report: Report, width: int) -> str:
    # The measurements come first, so that the advice is near the prompt.
    measured = _measured(report, report.measurements[: _MOST_DRAWN["text"]])
    return as_text((*measured, Heading(headline(report)), *_advice(report), *_checked(report, "text")), width)


def _json(report: Report, _width: int) -> str:
    return as_json(report)


def _html(report: Report, _width: int) -> str:
    measured = _measured(report, report.measurements[: _MOST_DRAWN["html"]])
    top = (Heading(_TITLE, 1), Paragraph(headline(report)))
    body = (*_advice(report), *_checked(report, "html"), Heading("What was measured"), *measured)
    sources = ", ".join(dict.fromkeys(each.source for each in report.measurements))
    return as_html((*top, *body), f"{_TITLE}: {sources}", _FOOT)


_RENDERERS: Mapping[str, Callable[[Report, int], str]] = MappingProxyType({"text": _text, "json": _json, "html": _html})
FORMS = tuple(_RENDERERS)


def render(report: Report, form: str, width: int = WIDTH) -> str:
    """Return the report as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](report, width)


def _advice(report: Report) -> Iterator[Block]:
    for number, told in enumerate(report.told, start=1):
        advice = told.advice
        yield Heading(f"{number}. {advice.rule.id}  {advice.rule.says}", 3)
        several = len(told.about) > 1
        evidence = (f"{measured.name}: " * several + " ".join(each.evidence) for measured, each in told.about)
        gain = f", at most {time(advice.gain_us)} of an inference" if advice.gain_us else ""
        rows = (
            ("confidence", f"{advice.confidence.value}{gain}"),
            ("evidence", "\n".join(evidence)),
            ("why", advice.rule.why),
            ("do", "\n".join(to_do(told))),
            ("source", f"{advice.rule.basis}: {advice.rule.source}; {advice.rule.pointer}"),
        )
        yield Pairs(rows, {"confidence": _COLOURS[advice.confidence]})


def _checked(report: Report, form: str) -> Iterator[Block]:
    """Yield what each rule without advice has looked at, and which rules lack numbers."""
    if report.simulated:
        return
    looked_at = report.looked_at[: _MOST_DRAWN[form]]
    for title, lacking in (("Also checked", False), ("Not checked, for lack of numbers", True)):
        found = [(measured, [each for each in nothing if each.lacking is lacking]) for measured, nothing in looked_at]
        if any(nothing for _, nothing in found):
            yield Heading(title)
        for measured, nothing in found:
            if nothing and len(report.looked_at) > 1:
                yield Heading(measured.name, 3)
            rows = [(each.rule.id, each.rule.says, each.because) for each in nothing]
            # On a page there is room for what the rule would report.
            if form == "html":
                yield Table(title, ("rule", "it would report", "why it does not"), rows, "findings")
            else:
                yield Pairs((rule, because) for rule, _, because in rows)


def _measured(report: Report, shown: Sequence[Measurement]) -> Iterator[Block]:
    about_which: dict[str, list[str]] = {}
    for measured in shown:
        yield Heading(measured.name, 3)
        yield Paragraph(about(measured))
        parts = () if measured.simulated else Numbers(measured).parts()
        yield Bars(
            "Where the time of an inference goes",
            [((part.name, time(part.time_us), percent(part.share)), part.share) for part in parts],
        )
        for note in dict.fromkeys(notes(measured)):
            about_which.setdefault(note, []).append(measured.name)
    # Each note is shown once, with its measurements, unless it is about all of them.
    yield Pairs(
        ("note", note if len(names) == len(shown) else f"{note}\nOf {'; '.join(names)}.")
        for note, names in about_which.items()
    )
    left_out = len(report.measurements) - len(shown)
    if left_out:
        yield Paragraph(f"{counted(left_out, 'more measurement')} are not drawn here; --format json has every one.")

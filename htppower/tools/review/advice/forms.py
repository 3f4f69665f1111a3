"""Advice in each of its forms: what was measured, the advice with its evidence, and what else was checked.

The JSON has format version 1. Its keys keep their order from one version to the next. Its times are in us.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Bars, Heading, Pairs, Paragraph, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import counted, percent, three_digits, time
from htppower.tools.review.advice.measurement import LEVELS, Event
from htppower.tools.review.advice.numbers import Numbers, mean, median, present
from htppower.tools.review.advice.rules import Confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from htppower.tools.report.blocks import Block
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.rules import Advice, Report, Told

_TITLE = "Power advice"
_FOOT = "It reads what profilers have measured; nothing was sent to hardware."
_COLOURS = {Confidence.HIGH: "green", Confidence.MEDIUM: "yellow", Confidence.LOW: "cyan"}
# The JSON has the measurements whose parts are not drawn.
_MOST_DRAWN = {"text": 12, "html": 40}
_HOST = "QNN (execute), NetRun and RPC are host time; everything within QNN accelerator (3002) is device time."
_NO_DEVICE = "All times are the host's: without rows of the HTP (3001 to 3012) nothing shows where the time goes."
_MOVED = "A power-up has moved the averages: unless it says otherwise, the evidence below uses the smallest numbers."
_OF_QUERIES = (Event.FIRST_TOKEN, Event.PROMPT_TOKENS, Event.PROMPT_RATE, Event.TOKENS, Event.TOKEN_RATE)
_CYCLES = (
    "Cycles are not wall time, nor a clock if divided by time: ops run side by side, and their cycles are added up."
)
FORMAT_VERSION = 1


def _text(report: Report, width: int) -> str:
    # The measurements come first, so that the advice is near the prompt.
    measured = _measured(report, report.measurements[: _MOST_DRAWN["text"]])
    return as_text((*measured, Heading(headline(report)), *_advice(report), *_checked(report, "text")), width)


def _html(report: Report, _width: int) -> str:
    measured = _measured(report, report.measurements[: _MOST_DRAWN["html"]])
    top = (Heading(_TITLE, 1), Paragraph(headline(report)))
    body = (*_advice(report), *_checked(report, "html"), Heading("What was measured"), *measured)
    sources = ", ".join(dict.fromkeys(each.source for each in report.measurements))
    return as_html((*top, *body), f"{_TITLE}: {sources}", _FOOT)


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
            ("do", "\n".join(_to_do(told))),
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
        yield Paragraph(_about(measured))
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


def headline(report: Report) -> str:
    """Return the result in one line."""
    if report.simulated:
        return "No advice: this was made by the simulation on x86-64, not by a device."
    if not report.told and not any(Numbers(each).has(event) for each in report.measurements for event in LEVELS[1:]):
        return "No advice: without rows of the HTP these numbers do not show whether anything can be gained."
    if not report.told:
        return "Nothing to gain: no rule has found anything in these numbers."
    return f"{len(report.told)} {'piece' if len(report.told) == 1 else 'pieces'} of advice, the largest gain first."


def _about(measured: Measurement) -> str:
    """Return what was measured, in one line."""
    word = "query" if Event.FIRST_TOKEN in measured.columns else "inference"
    count = "averages" if measured.averaged else counted(measured.count, word)
    if measured.spread is not None and measured.spread.count:
        count = f"statistics of {counted(measured.spread.count, word)}"
    sessions = f" in {counted(len(measured.starts), 'session')}" if len(measured.starts) > 1 else ""
    profile = "unknown profile" if measured.profile is None else f"profile {measured.profile.name}"
    soc = "" if measured.soc is None else f", {'/'.join(measured.soc.names)}"
    return f"{measured.form}, {count}{sessions}, {profile}{soc}"


def _to_do(told: Told) -> tuple[str, ...]:
    """Return what to do, in lines: once if it is the same for all measurements, else by name for each group."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for measured, each in told.about:
        groups.setdefault(each.do, []).append(measured.name)
    if len(groups) == 1:
        return told.advice.do
    return tuple(line for do, names in groups.items() for line in (f"for {'; '.join(names)}:", *do))


def _rates(measured: Measurement) -> Iterator[str]:
    """Yield how fast a language model is, in one line. Genie writes 0 for a query without tokens, which has no rate."""
    numbers = Numbers(measured)
    first_us, prompt, prompt_rate, tokens, token_rate = (numbers.typical(event) for event in _OF_QUERIES)
    if first_us:
        of = "" if prompt is None else f" of a prompt of {prompt:g} tokens"
        yield f"The first token{of} comes after {time(first_us)}."
    if prompt_rate:
        yield f"Prompts are processed at {three_digits(prompt_rate)} tokens/s."
    if token_rate:
        of = "" if tokens is None else f" of {tokens:g} tokens"
        yield f"Answers{of} are generated at {three_digits(token_rate)} tokens/s."


def notes(measured: Measurement) -> Iterator[str]:
    """Yield notes on how to read the numbers."""
    yield from _rates(measured)
    yield from measured.notes
    if measured.simulated:
        return
    numbers = Numbers(measured)
    if numbers.moved_by_a_cold_start:
        yield _MOVED
    if any(numbers.has(event) for event in LEVELS[1:]):
        yield _HOST
    elif numbers.has(Event.QNN) or numbers.has(Event.NETRUN):
        yield _NO_DEVICE
    if any(present(measured.columns.get(event, ())) for event in (Event.CYCLES, Event.CRITICAL_PATH)):
        yield _CYCLES


def _json(report: Report, _width: int) -> str:
    document = {
        "format_version": FORMAT_VERSION,
        "says": headline(report),
        "advice": [_told_json(each) for each in report.told],
        "measurements": [_measured_json(each) for each in report.measurements],
        "looked_at": [
            {**_where(measured), "rules": [{"rule": each.rule.id, "because": each.because} for each in nothing]}
            for measured, nothing in report.looked_at
        ],
    }
    return json.dumps(document, indent=2)


def _told_json(told: Told) -> dict[str, Any]:
    advice = told.advice
    return {
        "rule": advice.rule.id,
        "says": advice.rule.says,
        "confidence": advice.confidence.value,
        "gain": advice.gain.value,
        "gain_us": round(advice.gain_us, 3),
        "share": round(advice.share, 4),
        "evidence": list(advice.evidence),
        "why": advice.rule.why,
        "do": list(advice.do),
        "basis": advice.rule.basis.value,
        "source": advice.rule.source,
        "docs": advice.rule.pointer,
        "about": [_advice_json(measured, each) for measured, each in told.about],
    }


def _advice_json(measured: Measurement, advice: Advice) -> dict[str, Any]:
    return {
        **_where(measured),
        "confidence": advice.confidence.value,
        "gain_us": round(advice.gain_us, 3),
        "share": round(advice.share, 4),
        "evidence": list(advice.evidence),
        "do": list(advice.do),
    }


def _where(measured: Measurement) -> dict[str, Any]:
    return {"path": measured.source, "graph": measured.graph}


def _measured_json(measured: Measurement) -> dict[str, Any]:
    numbers = Numbers(measured)
    return {
        **_where(measured),
        "form": measured.form,
        "inferences": None if measured.averaged else measured.count,
        "sessions": len(measured.starts),
        "profile": None if measured.profile is None else measured.profile.name,
        "soc": None if measured.soc is None else measured.soc.model,
        "simulated": measured.simulated,
        "notes": list(dict.fromkeys(notes(measured))),
        "events": [_event(measured, event) for event in Event if numbers.has(event)],
        "parts": [
            {"name": part.name, "time_us": round(part.time_us, 3), "share": round(part.share, 4)}
            for part in numbers.parts()
        ],
    }


def _event(measured: Measurement, event: Event) -> dict[str, Any]:
    there = present(measured.columns[event])
    return {
        "id": event.value.number,
        "name": event.printed,
        "unit": event.kind.value,
        "unit_in_file": measured.units.get(event, ""),
        "count": len(there),
        "median": round(median(there), 3),
        "mean": round(mean(there), 3),
        "least": round(measured.least.get(event, min(there)), 3),
        "most": round(measured.most.get(event, max(there)), 3),
    }


_RENDERERS: Mapping[str, Callable[[Report, int], str]] = MappingProxyType({"text": _text, "json": _json, "html": _html})
FORMS = tuple(_RENDERERS)


def render(report: Report, form: str, width: int = WIDTH) -> str:
    """Return the report as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](report, width)

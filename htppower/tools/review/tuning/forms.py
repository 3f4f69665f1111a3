"""The results of tuning in each of their forms. The JSON has format version 1."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.profiles.sustain import Adaptive
from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Code, Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import counted, time
from htppower.tools.review.tuning.charts import cost_caption, cost_chart, front_chart, gap_caption, gap_chart
from htppower.tools.review.tuning.trace_words import more_sessions
from htppower.tools.review.tuning.words import (
    HEAD,
    advice_line,
    aim_line,
    firm_lines,
    front_line,
    impossible_lines,
    rows,
    together_line,
    verified_line,
)
from htppower.tools.tuning.profile_file import profile_text, tuned_name
from htppower.tools.tuning.sensitivity import in_words, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.profiles.sustain import Sustain
    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.holds import Checked, Holds
    from htppower.tools.tuning.sensitivity import Assumption
    from htppower.tools.tuning.tune import Tuned, Tuning, Verified

_FOOT = "Energy is computed from a device model; nothing was measured here."
# The most sessions of a page. The JSON has all.
_MOST_DRAWN = 12


def _text(tuning: Tuning, width: int) -> str:
    return as_text(_blocks(tuning, "text"), width)


def _html(tuning: Tuning, _width: int) -> str:
    title = Heading("Tuned from a recording", 1)
    return as_html((title, *_blocks(tuning, "html")), f"Tuned: {tuning.trace.source}", _FOOT)


def _blocks(tuning: Tuning, form: str) -> Iterator[Block]:
    count = sum(each.advice.session.begins_us.size for each in tuning.sessions)
    counts = f"{counted(len(tuning.sessions), 'session')}, {counted(count, 'inference')}"
    yield Pairs(
        (
            ("recording", f"{tuning.trace.source}: {counts}"),
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
    yield Table("The present, the advised, and points of the front", HEAD, rows(tuned), "front")
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
        assumed = [
            (each.name, number(each.quantity.value), _bound(each.down), _bound(each.up), each.quantity.of)
            for each in sorted(tuned.assumptions, key=lambda each: not each.matters)
        ]
        head = ("value", "assumed", "same down to", "same up to", "of what")
        yield Table("Assumed values of the device model", head, assumed, "assumed")
    if tuned.best is not None:
        yield Heading(f"{tuned_name(tuned.advice.session.name)}.yaml", 3)
        yield Code(profile_text(tuning, tuned), "yaml")


def _bound(value: float | None) -> str:
    return "whole range" if value is None else number(value)


def _json(tuning: Tuning, _width: int) -> str:
    """Return the results. Keys keep their order from one version to the next. Times are in us, energies in J."""
    together = tuning.together
    document = {
        "format_version": 1,
        "recording": {"source": tuning.trace.source, "format": tuning.trace.format, "notes": list(tuning.trace.notes)},
        "device": tuning.model.device,
        "limits": [str(each) for each in tuning.question.limits],
        "within": tuning.question.within,
        "break_even_us": tuning.question.break_even_us,
        "sessions": [_session_json(tuning, each) for each in tuning.sessions],
        "together": None
        if together is None
        else {
            "settled": together.choices is not None,
            "energy_j": None if together.choices is None else together.energy_j,
            "alone_j": None if together.choices is None else together.alone_j,
            "now_j": together.present_j,
            "kept": list(together.kept),
            "tried": together.tried,
            "all_tried": together.all_tried,
            "replayed": [_verified(each) for each in tuning.verified],
        },
    }
    return json.dumps(document, indent=2)


def _session_json(tuning: Tuning, tuned: Tuned) -> dict[str, Any]:
    advice = tuned.advice
    return {
        "name": advice.session.name,
        "inferences": int(advice.session.begins_us.size),
        "price_of_latency_w": tuned.aim.price_w,
        "now": _choice(advice.present),
        "advised": None if tuned.best is None else _choice(tuned.best),
        "least": None if advice.cheapest is None else _choice(advice.cheapest),
        "holds": None if tuned.best is None or tuned.holds is None else _holds(tuned.best, tuned.holds),
        "checked": None if tuned.checked is None else _checked(tuned, tuned.checked),
        "best_alone": None if advice.best is None else _choice(advice.best),
        "nearest": [{"limit": str(limit), "choice": _choice(choice)} for limit, choice in advice.nearest],
        "profile": None if tuned.best is None else profile_text(tuning, tuned),
        "front": [_choice(each) for each in advice.front],
        "tried": advice.tried,
        "of": advice.of,
        "assumptions": [_assumption(each) for each in tuned.assumptions],
        "replayed": [_verified(each) for each in tuned.verified],
        "notes": list(advice.notes),
    }


def _holds(best: Choice, holds: Holds) -> dict[str, Any]:
    def inference_us(factor: float | None) -> int | None:
        return None if factor is None else round(factor * holds.inference_us)

    return {
        "gaps_up_to_us": None if holds.gap_us is None else best.sustain,
        "gaps_now_us": holds.gap_us,
        "gaps_factor": holds.longer_gaps,
        "inferences_from_us": inference_us(holds.shorter),
        "inferences_up_to_us": inference_us(holds.longer),
        "inferences_now_us": holds.inference_us,
    }


def _checked(tuned: Tuned, checked: Checked) -> dict[str, Any]:
    return {
        "part": "last third",
        "used_to_tune": tuned.rest_used,
        "choice": _choice(checked.choice),
        "costs_more": checked.loss,
        "broken": [str(each) for each in checked.broken],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    latency = choice.latency
    return {
        "profile": choice.variant.name,
        "polling": choice.variant.polls,
        "sustain": _sustain(choice.sustain),
        "energy_j": choice.energy_j,
        **{f"{name}_us": getattr(latency, name) for name in ("p50", "p90", "p95", "p99", "p99_9", "max", "mean")},
        "cold_share": latency.cold,
        "cold": choice.cold,
        "calls": choice.calls,
        "raised_us": choice.raised_us,
    }


def _sustain(sustain: Sustain) -> int | dict[str, Any]:
    if not isinstance(sustain, Adaptive):
        return sustain
    kind = {"break_even_us": sustain.break_even_us, "cold_starts_ppm": sustain.cold_starts_ppm}
    stated = {name: value for name, value in kind.items() if value is not None}
    return {"adaptive": {**stated, "least_us": sustain.least_us, "most_us": sustain.most_us}}


def _assumption(each: Assumption) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": each.quantity.value,
        "of": each.quantity.of,
        "range": [each.lowest, each.highest],
        "stands_down_to": each.down,
        "stands_up_to": each.up,
    }


def _verified(verified: Verified) -> dict[str, Any]:
    return {
        "choice": _choice(verified.choice),
        "equal": not verified.differences,
        "calls": verified.replayed.calls,
        "raised_us": verified.replayed.raised_us,
        "cold": len(verified.replayed.cold),
        "differences": list(verified.differences),
    }


_RENDERERS: Mapping[str, Callable[[Tuning, int], str]] = MappingProxyType({"text": _text, "json": _json, "html": _html})
FORMS = tuple(_RENDERERS)


def render(tuning: Tuning, form: str, width: int = WIDTH) -> str:
    """Return the results as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](tuning, width)

"""Advice as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.tools.review.advice.described import headline, notes
from htppower.tools.review.advice.events import Event
from htppower.tools.review.advice.numbers import Numbers
from htppower.tools.review.advice.statistics import mean, median, present

if TYPE_CHECKING:
    from htppower.tools.review.advice.advice import Advice, Report, Told
    from htppower.tools.review.advice.measurement import Measurement

FORMAT_VERSION = 1


def as_json(report: Report) -> str:
    """Return the report. Keys keep their order from one version to the next. Times are in us."""
    document = {
        "format_version": FORMAT_VERSION,
        "says": headline(report),
        "advice": [_told(each) for each in report.told],
        "measurements": [_measured(each) for each in report.measurements],
        "looked_at": [
            {
                **_where(measured),
                "rules": [{"rule": each.rule.id, "because": each.because} for each in nothing],
            }
            for measured, nothing in report.looked_at
        ],
    }
    return json.dumps(document, indent=2)


def _told(told: Told) -> dict[str, Any]:
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
        "about": [_about(measured, each) for measured, each in told.about],
    }


def _about(measured: Measurement, advice: Advice) -> dict[str, Any]:
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


def _measured(measured: Measurement) -> dict[str, Any]:
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

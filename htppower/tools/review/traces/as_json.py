"""The content of a trace as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.review.traces.clock_lane import as_json as clock_as_json
from htppower.tools.review.traces.words import headline

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.describe import SessionDescription, TraceDescription
    from htppower.tools.tuning.traces.trace import Trace

FORMAT_VERSION = 1


def as_json(trace: Trace, described: TraceDescription) -> str:
    """Return the report. Keys keep their order from one version to the next. Times are in us, shares from 0 to 1."""
    document = {
        "format_version": FORMAT_VERSION,
        "says": headline(described),
        "source": described.source,
        "format": described.format,
        "notes": list(described.notes),
        "inferences": described.inferences,
        "sessions": [_session(each) for each in described.sessions],
    }
    if trace.clocks:
        document["clocks"] = [clock_as_json(each) for each in trace.clocks]
    return json.dumps(document, indent=2)


def _session(session: SessionDescription) -> dict[str, Any]:
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

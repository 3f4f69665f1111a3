"""A run as a trace in Chrome's JSON format, for Perfetto or chrome://tracing, next to the vendor's own chrometrace.

Corners are counters with the vendor's numbers, and slices with their names, since Perfetto refuses a name as the value
of a counter. A counter is 0 if nothing is voted, and for DISABLE, whose own number would look like a corner. HMX has
counters only if some vote on it is explicit; they are 0 while HMX follows the core clock.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import attrs

from htppower.subscribers.trace_file import PROCESS, event, moment, process, slice_of, track
from htppower.tools.review.dry_run.workload import NO_HARDWARE
from htppower.tools.review.pictures.timeline import is_disable, timeline
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.workload import Report
    from htppower.tools.review.pictures.timeline import Lane, Step

_THREADS = ("phases", "state", "native calls", "core votes", "bus votes", "HMX votes")
_THREAD = {name: PROCESS + number for number, name in enumerate(_THREADS, start=1)}
# Of events at the same time, those that enclose others are first.
_ORDER = {"M": 0, "X": 1, "C": 2, "i": 3}


def as_trace(report: Report) -> str:
    """Return the trace. Times are in us from the start of the run."""
    events = sorted(_events(report), key=lambda each: (each["ph"] != "M", each["ts"], _ORDER[each["ph"]]))
    lines = ",\n".join(json.dumps(each) for each in events)
    other = json.dumps(_about(report))
    return f'{{"displayTimeUnit": "ms", "otherData": {other}, "traceEvents": [\n{lines}\n]}}'


def _about(report: Report) -> dict[str, str]:
    return {
        "profile": report.profile.name,
        "summary": report.profile.summary,
        "source": str(report.profile.source or "none"),
        "platform": str(report.backend.platform),
        "workload": report.workload_line,
        "hardware": NO_HARDWARE,
    }


def _events(report: Report) -> Iterator[dict[str, Any]]:
    lanes = timeline(report).lanes
    yield process(f"htppower {report.profile.name}")
    threads = {name: tid for name, tid in _THREAD.items() if lanes or name in ("phases", "state")}
    for place, (name, tid) in enumerate(threads.items()):
        yield from track(tid, name, place)
    for span in report.phases:
        yield _slice("phases", str(span.phase), span.begin_us, span.duration_us)
    for window in report.windows:
        yield _slice("phases", window.name, window.begin_us, window.duration_us)
    for state in report.states:
        yield _slice("state", str(state.state), state.begin_us, state.duration_us)
    for row in report.rows:
        yield _call(row)
    for lane in lanes:
        yield from _lane(lane, report.end_us)


def _lane(lane: Lane, end_us: int) -> Iterator[dict[str, Any]]:
    for step, after in itertools.zip_longest(lane.steps, lane.steps[1:]):
        duration_us = (end_us if after is None else after.time_us) - step.time_us
        if duration_us > 0:
            yield _slice(f"{lane.clock} votes", str(step), step.time_us, duration_us, _corners(step))
        if lane.explicit:
            voted = {limit: 0 if is_disable(corner) else corner.value for limit, corner in _levels(step).items()}
            values = voted or {"min": 0, "target": 0, "max": 0}
            yield event("C", f"{lane.clock} corner", step.time_us, PROCESS, values)


def _levels(step: Step) -> dict[str, Any]:
    return {} if step.levels is None else attrs.asdict(step.levels, recurse=False)


def _corners(step: Step) -> dict[str, Any]:
    said = {limit: f"{corner.name} ({corner.value})" for limit, corner in _levels(step).items()}
    return said or {"vote": str(step)}


def _call(row: Row) -> dict[str, Any]:
    call = row.call
    args: dict[str, Any] = {
        "cause": str(row.cause),
        "phase": None if row.phase is None else str(row.phase),
        "state": str(row.state),
        "power_config_id": call.power_config_id,
        "code": call.code if call.code == 0 else f"{call.code} {code_name(call.code)}",
    }
    for config in call.configs:
        args[config.option] = {**config.fields, **config.symbols}
    return moment(call.function, call.time_us, _THREAD["native calls"], args)


def _slice(
    thread: str, name: str, begin_us: int, duration_us: int, args: dict[str, Any] | None = None
) -> dict[str, Any]:
    return slice_of(name, begin_us, duration_us, _THREAD[thread], args or {})

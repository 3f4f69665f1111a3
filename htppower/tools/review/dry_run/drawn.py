"""A dry run with its timeline drawn: as a page for people, and as a trace in Chrome's JSON format.

The page has the timeline, the votes, the native calls, and the findings of lint in its file. The trace is for Perfetto
or chrome://tracing, next to the vendor's own chrometrace. In it, corners are counters with the vendor's numbers, and
slices with their names, since Perfetto refuses a name as the value of a counter. A counter is 0 if nothing is voted,
and for DISABLE, whose own number would look like a corner. HMX has counters only if some vote on it is explicit; they
are 0 while HMX follows the core clock.
"""

from __future__ import annotations

import datetime
import itertools
import json
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.discovery import shown_path
from htppower.profiles.fields import spell, vote_fields
from htppower.profiles.profile import power_states
from htppower.profiles.sustain import Adaptive
from htppower.subscribers.trace_file import PROCESS, event, moment, process, slice_of, track
from htppower.tools.report.as_html import as_html
from htppower.tools.report.blocks import Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.review.dry_run.workload import NO_HARDWARE
from htppower.tools.review.lint.run import lint
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import is_disable, timeline
from htppower.tools.review.sustain_words import sustain_in_words
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.errors import Finding, KeyPath
    from htppower.profiles.profile import Relax
    from htppower.profiles.sustain import Sustain
    from htppower.tools.report.blocks import Block
    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.workload import Report
    from htppower.tools.review.pictures.timeline import Lane, Step

SIMULATED = "Nothing was sent to hardware: this is the simulated HTP."
# A page with more calls than _MOST_ROWS shows only the first and the last calls. 20000 rows open slowly and are not
# read.
_MOST_ROWS = 200
_FEW_ROWS = 60
# The columns of the power states, by the fields that name them.
_HEADS: dict[KeyPath, str] = {
    ("relax", "to"): "lowered",
    ("relax", "after_deinit_to"): "after DE-INIT",
    ("relax", "then", "to"): "further",
}
_THREADS = ("phases", "state", "native calls", "core votes", "bus votes", "HMX votes")
_THREAD = {name: PROCESS + number for number, name in enumerate(_THREADS, start=1)}
# Of events at the same time, those that enclose others are first.
_ORDER = {"M": 0, "X": 1, "C": 2, "i": 3}


def as_page(report: Report, findings: Sequence[Finding] = ()) -> str:
    """Return the page of a run, with findings in its file."""
    profile = report.profile
    blocks = (
        Heading(profile.name, 1),
        Paragraph(profile.summary),
        Pairs(about(report)),
        Picture(as_svg(timeline(report), head=False), f"Votes of {profile.name} over time"),
        Heading("Summary"),
        Pairs(summary(report)),
        Heading("Findings"),
        _findings(findings) if findings else Paragraph("None."),
        Heading("Votes"),
        *_votes(report),
        Heading("Native calls"),
        *_calls(report),
    )
    return as_html(blocks, f"{profile.name}: votes over time", SIMULATED)


def findings_of(report: Report, folders: Iterable[str]) -> Sequence[Finding]:
    """Return what lint finds in the profile's file, on the platform of the run."""
    source = report.profile.source
    if source is None:
        return ()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return lint([source], today, profiles=folders, platform=report.backend.platform).told


def about(report: Report) -> list[tuple[str, str]]:
    """Return what was run, as labels and texts; a shipped file by its name, wherever it is installed."""
    source = report.profile.source
    return [
        ("file", "none" if source is None else shown_path(str(source))),
        ("platform", str(report.backend.platform)),
        ("workload", report.workload_line),
        *(("record", line) for line in report.record_lines),
    ]


def summary(report: Report) -> list[tuple[str, str]]:
    """Return the sums of a run, as labels and texts."""
    return [
        ("native calls", f"{len(report.rows)}, {report.count('setPowerConfig')} of them setPowerConfig"),
        ("time", report.state_line or "none"),
        *(("sustain", line) for line in report.sustain_lines),
        *(("degraded", line) for line in report.degradation_lines),
    ]


def _findings(findings: Sequence[Finding]) -> Table:
    rows = (
        (each.severity.value, each.rule, shown_path(str(each.place or "")), each.message, each.hint)
        for each in findings
    )
    return Table("Findings, by rule", ("severity", "rule", "place", "what", "what to do"), rows, "findings")


def _votes(report: Report) -> Iterator[Block]:
    """Yield the table of each vote, raised, lowered and after DE-INIT, as a file writes it, and when it is lowered."""
    profile = report.profile
    if not profile.votes or profile.relax is None:
        yield Paragraph("The profile sends no votes: the system's own settings stay as they are.")
        return
    relax = profile.relax
    states = power_states(profile)
    voted = [dict(vote_fields(votes)) for votes in (profile.votes, *(state.votes for _, state in states))]
    names = dict.fromkeys(at for fields in voted for at in fields)
    rows = ((".".join(at[1:]), *(spell(fields.get(at)) for fields in voted)) for at in names)
    head = ("field", "raised", *(_HEADS[at] for at, _ in states))
    yield Table("Each field, raised and lowered", head, rows, "votes")
    background = ", in the background" if relax.lowers_in_background else ""
    yield Paragraph(
        f"Relaxes to {relax.to.name} {relax.after_init_us} us after INIT and {_time(relax.after_inference_us)} after "
        f"the last inference{background}, {_further(relax)}and to {relax.after_deinit_to.name} after DE-INIT."
        f"{f' Raises {relax.raise_ahead_us} us ahead of a predicted inference.' if relax.raise_ahead_us else ''}"
    )


def _time(sustain: Sustain) -> str:
    """Return a time in us; a learnt time in words."""
    return f"a time that is {sustain_in_words(sustain)}," if isinstance(sustain, Adaptive) else f"{sustain} us"


def _further(relax: Relax) -> str:
    then = relax.then
    return "" if then is None else f"then to {then.to.name} {_time(then.after_us)} after that, "


def _calls(report: Report) -> Iterator[Block]:
    """Yield the table of the native calls; only the first and the last if there are very many."""
    rows = report.rows
    head = ("time us", "phase", "why", "state", "call", "votes")
    if not rows:
        yield Paragraph("No call: this profile does not vote.")
    elif len(rows) <= _MOST_ROWS:
        yield Table("Every native call", head, map(_call, rows), "calls")
    else:
        yield Table(f"The first {_FEW_ROWS} native calls", head, map(_call, rows[:_FEW_ROWS]), "calls")
        yield Paragraph(f"{len(rows) - 2 * _FEW_ROWS} calls are left out here; --format json has every one.")
        yield Table(f"The last {_FEW_ROWS} native calls", head, map(_call, rows[-_FEW_ROWS:]), "calls")


def _call(row: Row) -> tuple[str, ...]:
    phase = "" if row.phase is None else str(row.phase)
    fields = () if row.call.votes is None else vote_fields(row.call.votes)
    lines = "\n".join(f"{'.'.join(at[1:])}: {spell(value)}" for at, value in fields if value is not None)
    step = (str(row.call.time_us), phase, str(row.cause), str(row.state))
    return *(("",) * len(step) if row.goes_on else step), row.text, lines


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
        yield _native_call(row)
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


def _native_call(row: Row) -> dict[str, Any]:
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

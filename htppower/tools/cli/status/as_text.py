"""A status as text: each session with its votes, since when and why, and the unknown parts.

Ages count up to now if the file still holds. Otherwise they count up to the time when the file was written.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from htppower.control.status.process_identity import Life
from htppower.events import State
from htppower.tools.cli.status.wording import (
    clock_time,
    inferences,
    lasted,
    link_lines,
    measured_lines,
    painted,
    share_up,
    time_in_states,
    wait,
)
from htppower.tools.report.layout import WIDTH, labelled
from htppower.tools.report.words import counted, duration, percent, rough_duration
from htppower.votes.native_codes import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.tools.cli.status.document import Seen
    from htppower.tools.cli.status.history import Rate

_LABEL = 11
_WITH_STATES = ("state", "states")
_NO_WISH_US = 65535
# While a session is up, the file is written every second. On a busy machine a write may be late by less than this.
_LATE_US = 5_000_000


def as_text(
    seen: Seen,
    width: int = WIDTH,
    strips: Mapping[int, str] | None = None,
    rates: Mapping[int, Rate | None] | None = None,
) -> str:
    """Return a status, styled; ``strips`` and ``rates`` show the recent past of the sessions, by their numbers."""
    document = seen.document
    owners = {session["number"]: session["owner"] for session in document["sessions"]}
    blocks = [
        _head(seen),
        *(_session(session, seen, strips or {}, rates or {}) for session in document["sessions"]),
        *(_core(core, owners) for core in document["cores"]),
        measured_lines(seen),
        _settings(document["settings"], owners),
    ]
    return "\n\n".join("\n".join(_wrapped(block, width)) for block in blocks if block)


Line = tuple[str, str]


def _wrapped(lines: Iterable[Line], width: int) -> Iterator[str]:
    for label, text in lines:
        told = labelled(label, text, width, _LABEL)
        yield from map(painted, told) if label.strip() in _WITH_STATES else told


def _head(seen: Seen) -> list[Line]:
    document = seen.document
    backend = document["backend"]
    hardware = "" if backend["hardware"] else "; no vote reaches hardware"
    lines = [
        ("written", _written(seen)),
        ("at", f"{_utc(document['written']):%Y-%m-%d %H:%M:%S} UTC, as are all times below"),
        _so_far(seen),
        ("backend", f"{backend['name']}: {backend['library']}{hardware}"),
        ("platform", backend["platform"] or "not known"),
        *(("cap", _hold_or_cap(cap, seen)) for cap in document["caps"]),
    ]
    lines += link_lines(document)
    if document["sharing"]:
        others = "another controller" if document["sharing"] == 1 else f"{document['sharing']} other controllers"
        lines.append(("controller", f"{document['number']}: shares the settings of the process with {others}"))
    if not document["sessions"]:
        lines.append(("sessions", "none is open"))
    if document["orphans"]:
        ids = _numbers(document["orphans"])
        lines.append(
            ("orphans", f"{ids}: power config ids that no session has any more, and that are not destroyed yet")
        )
    if document["events_lost"]:
        lines.append(("events", f"{document['events_lost']} lost by subscribers that are too slow"))
    # Files of older versions have none.
    lines += [("calling", _calling(call, seen)) for call in document.get("calls_under_way", ())]
    if document["recording"]:
        lines.append(("recording", _recording(document["recording"])))
    return lines


def _calling(call: dict[str, Any], seen: Seen) -> str:
    whose = f"session {call['session']}" if call["session"] else "the controller"
    on = "" if call["power_config_id"] is None else f" on id {call['power_config_id']}"
    return f"{call['function']}{on} for {whose} has not returned for {lasted(seen, call['since_us'])}"


def _recording(recording: dict[str, Any]) -> str:
    lost = f", {recording['lost']} lost" if recording["lost"] else ""
    error = f"; it can't be written: {recording['error']}" if recording["error"] else ""
    return f"{recording['path']}: {recording['written']} inferences{lost}{error}"


def _written(seen: Seen) -> str:
    document = seen.document
    ago, pid = f"{rough_duration(seen.age_us)} ago", document["pid"]
    if document["closed"]:
        return f"{ago}, closed: this is what process {pid} wrote last"
    if seen.process is Life.GONE:
        return f"{ago}; process {pid} is gone: this is what it wrote last"
    said = {
        Life.RUNNING: f"by process {pid}, which is running",
        Life.ELSEWHERE: f"by process {pid} of another boot, container or machine: whether it runs can't be seen here",
        Life.UNKNOWN: f"by process {pid}; whether it still runs can't be seen here",
    }[seen.process]
    return f"{ago} {said}"


def _utc(written: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(written).astimezone(datetime.timezone.utc)


def _so_far(seen: Seen) -> Line:
    """Return the line about whether the file is up to date; if not, also what is unknown."""
    if seen.holds:
        return "still so", "nothing is up, and the process writes any change: ages are up to now"
    return "not known", _not_known(seen)


def _not_known(seen: Seen) -> str:
    document = seen.document
    if seen.process is Life.GONE and not document["closed"]:
        if document["backend"]["hardware"]:
            return "what it did after that, and whether the driver has removed its votes; all below is as of then"
        return "what it did after that; all below is as of then"
    late = "; a process writes every second while a session is up, and this one has not" if _is_late(seen) else ""
    return f"what has changed since: all below is as of then{late}"


def _is_late(seen: Seen) -> bool:
    """Return whether a running process has missed the write that a raised session makes due."""
    up = any(session["state"] == State.RAISED or session["in_flight"] for session in seen.document["sessions"])
    running = seen.process is Life.RUNNING and not seen.document["closed"]
    return up and running and seen.age_us > _LATE_US


def _session(
    session: dict[str, Any], seen: Seen, strips: Mapping[int, str], rates: Mapping[int, Rate | None]
) -> list[Line]:
    why = "" if session["cause"] is None else f": {session['cause']}"
    ends = "; it is being closed" if session.get("closing") else ""
    began_us = session["since_us"]
    since = f"{session['state']} for {lasted(seen, began_us)}, since {clock_time(seen, began_us)}{why}{ends}"
    count = inferences(session, seen.document)
    core_ids = _numbers(session["core_ids"])
    ids = f"; power config ids {_numbers(session['power_config_ids'])}" if session["power_config_ids"] else ""
    lines = [
        (f"session {session['number']}", session["owner"] or "no owner is named"),
        ("  state", since),
        ("  profile", _profile(session, seen)),
        *(("  hold", _hold_or_cap(hold, seen)) for hold in session["holds"]),
        ("  in flight", f"{session['in_flight']}{_time_to_lowering(session, seen)}"),
        *_tickets(session, seen),
        *([("  begun", count)] if count else ()),
        ("  where", f"device {session['device_id']}, core ids {core_ids}{ids}"),
        *_learnt(session),
        ("  calls", f"{session['calls_sent']} sent, {session['calls_saved']} saved"),
        *_calls(session, seen),
        *(("  without", f"{lost['option']}: {lost['rule']}: {lost['message']}") for lost in session["degradations"]),
    ]
    lines += _pace(session)
    lines += _cpu_latency(session)
    times = time_in_states(session, seen)
    lines.append(("  states", ", ".join(f"{state} {rough_duration(lasted_us)}" for state, lasted_us in times.items())))
    lines.append(("  share", share_up(session, seen)))
    if session["number"] in strips:
        lines.append(("  timeline", strips[session["number"]]))
    rate = rates.get(session["number"])
    if rate is not None:
        lines.append(("  rate", _rate(rate)))
    return lines


def _cpu_latency(session: dict[str, Any]) -> Iterator[Line]:
    """Yield the limit on the latency of the CPUs. Most sessions have none."""
    limit = session.get("cpu_latency")
    if limit is not None and limit["us"] is not None:
        held = limit["problem"] or ("held now" if limit["held"] else "held while an inference runs")
        yield "  cpus", f"wake within {duration(limit['us'])}: {held}"


def _pace(session: dict[str, Any]) -> Iterator[Line]:
    """Yield the rate of a pace and its deadlines. Most sessions have none."""
    pace = session.get("pace")
    if pace is None:
        return
    recent = "" if pace["recent_per_s"] is None else f", recently {pace['recent_per_s']:.3g}"
    missed = f"{pace['misses']:,} of {counted(pace['inferences'], 'deadline')} missed, {pace['recent_misses']} recently"
    keeps = "" if pace["keeps"] else "; no profile of it keeps the rate"
    yield "  pace", f"{pace['per_s']:g} a second{recent}; {missed}, {percent(pace['miss_rate'])} allowed{keeps}"


def _rate(rate: Rate) -> str:
    """Return how many inferences per second there were recently, and how many of them waited."""
    cold = "" if rate.cold is None else f"; {rate.cold:.0%} waited for a call"
    mean = "" if rate.wait_us is None else f", {wait(rate.wait_us)} on average"
    return f"{rate.each_s:.1f} inferences per second{cold}{mean}"


def _profile(session: dict[str, Any], seen: Seen) -> str:
    decides = session["decided_by"]
    if decides is None:
        return str(session["profile"])
    since_us = decides["since_us"]
    why = f"{decides['kind']} '{decides['reason']}' for {lasted(seen, since_us)}, since {clock_time(seen, since_us)}"
    own, used = session["own_profile"], session["profile"]
    return f"{used}: {why}" if used == own else f"{used} in place of {own}: {why}"


def _hold_or_cap(claim: dict[str, Any], seen: Seen) -> str:
    until_us = claim["until_us"]
    until = "" if until_us is None else f", ends in {rough_duration(max(0, until_us - seen.until_us))}"
    return f"{claim['profile']}: '{claim['reason']}' for {lasted(seen, claim['since_us'])}{until}"


def _tickets(session: dict[str, Any], seen: Seen) -> Iterator[Line]:
    """Yield how many inferences wait for their end, and how long the oldest has waited, since it may be abandoned."""
    tickets = session["tickets"]
    if tickets:
        oldest = lasted(seen, tickets[0]["since_us"])
        yield "  tickets", f"{len(tickets)} not ended, the oldest for {oldest}"


def _time_to_lowering(session: dict[str, Any], seen: Seen) -> str:
    """Return when a session is lowered. After that time, return only when it was due: the next write will show it."""
    until_us = session["sustained_until_us"]
    if until_us is None:
        return ""
    at = f"at {clock_time(seen, until_us)} unless an inference begins"
    left_us = until_us - seen.time_us - seen.age_us
    if seen.process is not Life.RUNNING or left_us < 0:
        return f"; was to lower {at}: not known yet" if seen.process is Life.RUNNING else f"; was to lower {at}"
    return f"; lowers in {rough_duration(left_us)}, {at}"


def _learnt(session: dict[str, Any]) -> Iterator[Line]:
    """Yield the learnt times, and their cost compared with the vendor's time. Files of older versions have none."""
    for name, title, stays in (("learnt", "sustain", "idle and up"), ("learnt_further", "further", "relaxed")):
        learnt = session.get(name)
        if learnt is not None:
            time_out = f"{rough_duration(learnt['time_out_us'])} after {learnt['gaps']} gaps"
            yield f"  {title}", f"learnt: {time_out}"
            for what, prefix in (("so far", ""), ("with 300 ms", "fixed_")):
                up, cold = rough_duration(learnt[f"{prefix}raised_us"]), learnt[f"{prefix}cold_starts"]
                yield f"    {what}", f"{stays} for {up}, {cold} cold starts"


def _calls(session: dict[str, Any], seen: Seen) -> Iterator[Line]:
    call, failed = session["last_call"], session["last_error"]
    if call is not None:
        on = "" if call["power_config_id"] is None else f" on id {call['power_config_id']}"
        answer = "succeeded" if call["code"] == SUCCESS else f"returned {call['code']} {call['name']}"
        ago = f"{lasted(seen, call['time_us'])} ago, took {rough_duration(call['duration_us'])}"
        yield "  last call", f"{call['function']}{on} {answer} {ago}"
    if failed is not None:
        cured = "" if session["error"] is not None else "; calls have succeeded since"
        yield "  last error", f"{lasted(seen, failed['time_us'])} ago: {failed['message']}{cured}"


def _core(core: dict[str, Any], owners: dict[int, str | None]) -> list[Line]:
    decided = core["decided_by"]
    lines = [(f"core {core['core_id']}", f"device {core['device_id']}; clocks as min / target / max, by own votes")]
    for clock in ("core", "bus", "hmx"):
        corners = " / ".join(core[clock][limit] for limit in ("min", "target", "max"))
        lines.append((f"  {clock}", corners + _decided(decided[clock], owners) if decided[clock] else "no vote"))
    latency_us = core["sleep_latency_us"]
    asleep = "no limit" if latency_us == _NO_WISH_US else f"wakes within {duration(latency_us)}"
    kept = ", kept from sleeping" if core["sleep_disable"] else ""
    lines.append(("  sleep", f"{asleep}{kept}{_decided(decided['sleep_latency_us'], owners)}"))
    lines.append(("  dcvs", "may move the clocks" if core["dcvs_enable"] else "off"))
    if core["unknown"]:
        lines.append(("  unknown", f"the votes of {_sessions(core['unknown'], owners)}, which are not in the above"))
    return lines


def _settings(settings: list[dict[str, Any]], owners: dict[int, str | None]) -> list[Line]:
    lines = [("process", "settings of the whole process")] if settings else []
    for setting in settings:
        value = "not voted, or not known" if setting["value"] is None else str(setting["value"])
        held = f", held by {_sessions(setting['holders'], owners)}" if setting["holders"] else ""
        lines.append(("", f"{setting['name']}: {value}{held}"))
    return lines


def _decided(numbers: list[int], owners: dict[int, str | None]) -> str:
    return f", decided by {_sessions(numbers, owners)}" if numbers else ""


def _sessions(numbers: list[int], owners: dict[int, str | None]) -> str:
    named = (f"{number} ({owners[number]})" if owners.get(number) else str(number) for number in numbers)
    return f"session{'' if len(numbers) == 1 else 's'} {', '.join(named)}"


def _numbers(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))

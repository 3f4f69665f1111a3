"""Parts of a status in words: the link, times, the profile and its reason, the inferences and their waits."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from htppower.events import LinkState
from htppower.tools.cli.status.document import WRITTEN_WITHIN_US
from htppower.tools.report.styled import styled
from htppower.tools.report.words import rough_duration
from htppower.tools.review.link_words import LINK_MEANINGS

if TYPE_CHECKING:
    from htppower.tools.cli.status.document import Seen

_DAY = datetime.timedelta(days=1)
# Operators ask for the 99th percentile of the waits.
_MOST = 0.99
_CLOCKS = (("core", "DCVS_V3", "coreVoltageCornerTarget"), ("bus", "DCVS_V3", "busVoltageCornerTarget"))
_COLOURS = {"RAISED": "red", "LOWERED": "green", "UNKNOWN": "yellow"}
_DECIDED = {
    "cap": "capped from",
    "hold": "held, in place of",
    "mode": "a mode in place of",
    "pace": "paced, in place of",
}
_STATES = re.compile(rf"\b({'|'.join(_COLOURS)})\b")


def link_lines(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the line of a link to the DSP that has trouble. Files of older versions do not have it."""
    state = document.get("link", LinkState.WELL)
    if state == LinkState.WELL:
        return []
    meaning = LINK_MEANINGS.get(state)
    return [("link", f"{state}: {meaning}" if meaning else state)]


def lasted(view: Seen, since_us: int) -> str:
    """Return how long something has lasted: up to now if the file is still true, or else up to its write."""
    return rough_duration(view.until_us - since_us)


def lasted_in_list(view: Seen, since_us: int) -> str:
    """Return how long something has lasted, with a mark if the last write is too long ago for an exact answer."""
    small = view.age_us < WRITTEN_WITHIN_US and 2 * view.age_us <= view.until_us - since_us
    return lasted(view, since_us) + ("" if view.holds or small else " when written")


def clock_time(view: Seen, time_us: int) -> str:
    """Return a time of the controller's clock as a wall-clock time in UTC; with the date if a day has passed."""
    ago = datetime.timedelta(microseconds=view.time_us - time_us)
    then = datetime.datetime.fromisoformat(view.document["written"]).astimezone(datetime.timezone.utc) - ago
    old = ago + datetime.timedelta(microseconds=view.age_us) >= _DAY
    return f"{then:%Y-%m-%d %H:%M:%S}" if old else f"{then:%H:%M:%S}"


def profile_in_use(session: dict[str, Any]) -> str:
    """Return the profile that a session uses, with the hold, the cap, the pace or the mode that decides it."""
    decides = session["decided_by"]
    if decides is None:
        return str(session["profile"])
    how, own = _DECIDED.get(decides["kind"], "in place of"), session["own_profile"]
    replaced = "paced" if decides["kind"] == "pace" and own == session["profile"] else f"{how} {own}"
    return f"{session['profile']} ({replaced}: {decides['reason']})"


def share_up(session: dict[str, Any], view: Seen) -> str:
    """Return the share of its time that a session was raised, in words."""
    return f"up {up(session, view):.0%} of {rough_duration(_whole_us(session, view))}"


def up(session: dict[str, Any], view: Seen) -> float:
    """Return the share of its time that a session was raised."""
    whole_us = _whole_us(session, view)
    return session["time_in_state_us"].get("RAISED", 0) / whole_us if whole_us else 0.0


def _whole_us(session: dict[str, Any], view: Seen) -> int:
    # If the last write is still true, the session was not raised since: a raised session is written every second.
    whole_us: int = sum(session["time_in_state_us"].values())
    return whole_us + view.until_us - view.time_us


def time_in_states(session: dict[str, Any], view: Seen) -> dict[str, int]:
    """Return how long a session was in each state."""
    times = dict(session["time_in_state_us"])
    times[session["state"]] = times.get(session["state"], 0) + view.until_us - view.time_us
    return times


def inferences(session: dict[str, Any], document: dict[str, Any]) -> str:
    """Return how many inferences there were, how many waited for a call, and how long; "" for an older file."""
    cold = session.get("cold_starts")
    if cold is None:
        return ""
    count, bounds = session["inferences"], document["wait_bounds_us"]
    said = f"{count} inference{'' if count == 1 else 's'}"
    if not cold["count"]:
        return f"{said}, none waited for a call"
    reached = 0
    most = f"more than {wait(bounds[-1])}"
    for bound_us, waited in zip(bounds, cold["by_bound"], strict=False):
        reached += waited
        if reached >= _MOST * cold["count"]:
            most = f"up to {wait(bound_us)}"
            break
    share = cold["count"] / count if count else 0
    mean = wait(cold["wait_us"] / cold["count"])
    return f"{said}, {cold['count']} ({100 * share:.3g}%) waited for a call: {mean} on average, 99% {most}"


def wait(wait_us: float) -> str:
    """Return how long an inference waited. A raise takes about a millisecond."""
    return f"{wait_us / 1000:.3g} ms" if wait_us < 1_000_000 else rough_duration(round(wait_us))  # noqa: PLR2004


def _short(corner: str) -> str:
    return corner.partition("_VCORNER_")[2] or corner


def clocks(session: dict[str, Any]) -> str:
    """Return the targets of the core and the bus clock that a session votes; "" if none are known."""
    configs = [config for vote in session["votes"] for config in vote["configs"]]
    said = []
    for clock_name, option, field in _CLOCKS:
        found = {config["symbols"].get(field) for config in configs if config["option"] == option} - {None}
        if found:
            said.append(f"{clock_name} {' or '.join(sorted(map(_short, found)))}")
    return ", ".join(said)


def measured_lines(view: Seen) -> list[tuple[str, str]]:
    """Return a line for each reader of the measured clock. Most hosts have none."""
    lines = []
    for clock in view.document.get("clocks", ()):
        reading, by = clock["reading"], f"by {clock['source']}"
        if reading is None:
            lines.append(("measured", f"{clock['problem'] or 'not read yet'}; {by}"))
        else:
            lines.append(("measured", f"{values(reading)}; {by}, {lasted(view, reading['time_us'])} ago"))
    return lines


def values(reading: dict[str, Any]) -> str:
    """Return the measured values of a reading in words."""
    said = [] if reading["clock_khz"] is None else [f"{reading['clock_khz'] / 1000:.0f} MHz"]
    uses = ((unit, reading[f"{unit.lower()}_use_percent"]) for unit in ("Q6", "HVX", "HMX"))
    said += [f"{unit} {use:.0f}% used" for unit, use in uses if use is not None]
    said += [] if reading["power_mw"] is None else [f"{reading['power_mw']:.0f} mW"]
    return ", ".join(said) or "no value yet"


def painted(line: str) -> str:
    """Return a finished line with its states in colour. The rest of it is made printable when it is shown."""
    return _STATES.sub(lambda found: styled(found[0], _COLOURS[found[0]]), line)

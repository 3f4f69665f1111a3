"""A controller's status as JSON, in the form that ``json_form.py`` describes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.control.core.cold_starts import WAIT_BOUNDS_US
from htppower.control.status.json_form import FORMAT
from htppower.control.status.process_identity import place, started
from htppower.events import State
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    import datetime

    from htppower.control.core.precedence import Claim
    from htppower.control.status.controller_status import ControllerStatus, SessionStatus
    from htppower.control.status.cores import CoreStatus
    from htppower.errors import CallUnderWay, VoteRejected

KIND = "htppower status"


def status_document(status: ControllerStatus, written: datetime.datetime, *, closed: bool) -> dict[str, Any]:
    """Return the status of a controller of this process."""
    backend = status.backend
    return {
        "format": FORMAT,
        "kind": KIND,
        "htppower": __version__,
        "written": written.isoformat(timespec="milliseconds"),
        "closed": closed,
        **_process(),
        "time_us": status.time_us,
        "backend": {
            "name": backend.name,
            "library": backend.library,
            "platform": None if backend.platform is None else str(backend.platform),
            "hardware": backend.hardware,
            "versions": dict(backend.versions),
        },
        "number": status.number,
        "sharing": status.sharing,
        "caps": [_claim(cap) for cap in status.caps],
        "sessions": [_session(session) for session in status.sessions],
        "cores": [_core(core) for core in status.cores],
        "settings": [
            {"name": setting.name, "value": setting.value, "holders": list(setting.holders)}
            for setting in status.settings
        ],
        "orphans": list(status.orphans),
        "events_lost": status.events_lost,
        "recording": None if status.recording is None else attrs.asdict(status.recording),
        "calls_under_way": [_call(call) for call in status.calls_under_way],
        "inferences": status.inferences,
        "link": status.link.value,
        "wait_bounds_us": list(WAIT_BOUNDS_US),
    }


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    """Return what of a document changes only when something happens."""
    moving = ("written", "time_us")
    sessions = [
        {name: value for name, value in session.items() if name != "time_in_state_us"}
        for session in document["sessions"]
    ]
    return {**{name: value for name, value in document.items() if name not in moving}, "sessions": sessions}


def _process() -> dict[str, Any]:
    pid = os.getpid()
    return {"pid": pid, "started_ticks": started(pid), "place": place()}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "profile": claim.profile.name,
        "reason": claim.reason,
        "since_us": claim.since_us,
        "until_us": claim.until_us,
    }


def _session(session: SessionStatus) -> dict[str, Any]:
    decides, failed, call = session.decided_by, session.last_error, session.last_call
    return {
        "number": session.number,
        "owner": None if session.owner is None else str(session.owner),
        "profile": session.profile,
        "own_profile": session.own_profile,
        "holds": [_claim(hold) for hold in session.holds],
        "decided_by": None if decides is None else {"kind": decides.kind, **_claim(decides)},
        "state": session.state.value,
        "since_us": session.since_us,
        "cause": None if session.cause is None else session.cause.value,
        "in_flight": session.in_flight,
        "tickets": [{"since_us": each.since_us, "until_us": each.until_us} for each in session.tickets],
        "sustained_until_us": session.sustained_until_us,
        "device_id": session.device_id,
        "core_ids": list(session.core_ids),
        "power_config_ids": list(session.power_config_ids),
        "votes": [
            {
                "power_config_id": power_config_id,
                "configs": [
                    {"option": config.option, "fields": dict(config.fields), "symbols": dict(config.symbols)}
                    for config in votes.native(power_config_id)
                ],
            }
            for power_config_id, votes in session.votes.items()
        ],
        "degradations": [
            {"rule": lost.rule, "option": lost.option.name, "message": lost.message, "hint": lost.hint}
            for lost in session.degradations
        ],
        "error": None if session.error is None else _error(session.error),
        "last_error": None if failed is None else {"time_us": failed.time_us, **_error(failed.error)},
        "last_call": None
        if call is None
        else {
            "time_us": call.time_us,
            "function": call.function,
            "power_config_id": call.power_config_id,
            "code": call.code,
            "name": code_name(call.code),
            "duration_us": call.duration_us,
        },
        "inferences": session.inferences,
        "cold_starts": {
            "count": session.cold_starts.count,
            "wait_us": session.cold_starts.wait_us,
            "by_bound": list(session.cold_starts.by_bound),
        },
        "calls_sent": session.calls_sent,
        "calls_saved": session.calls_saved,
        "time_in_state_us": {
            state.value: session.time_in_state_us[state] for state in State if state in session.time_in_state_us
        },
        "learnt": None if session.learnt is None else attrs.asdict(session.learnt),
        "learnt_further": None if session.learnt_further is None else attrs.asdict(session.learnt_further),
        "closing": session.closing,
    }


def _call(call: CallUnderWay) -> dict[str, Any]:
    return {
        "session": call.session,
        "function": call.function,
        "power_config_id": call.power_config_id,
        "since_us": call.since_us,
    }


def _error(error: VoteRejected) -> dict[str, Any]:
    return {"function": error.function, "code": error.code, "name": error.name, "message": str(error)}


def _core(core: CoreStatus) -> dict[str, Any]:
    effective = core.effective
    return {
        "device_id": core.device_id,
        "core_id": core.core_id,
        "core": _corners(effective.core_min, effective.core_target, effective.core_max),
        "bus": _corners(effective.bus_min, effective.bus_target, effective.bus_max),
        "hmx": _corners(effective.hmx_min, effective.hmx_target, effective.hmx_max),
        "sleep_latency_us": effective.sleep_latency_us,
        "sleep_disable": effective.sleep_disable,
        "dcvs_enable": effective.dcvs_enable,
        "decided_by": {what: list(numbers) for what, numbers in core.decided_by.items()},
        "unknown": list(core.unknown),
    }


def _corners(low: int, target: int, high: int) -> dict[str, str]:
    kind = VoltageCorner if low in VoltageCorner.__members__.values() else ExpandedCorner
    return {"min": kind(low).name, "target": kind(target).name, "max": kind(high).name}

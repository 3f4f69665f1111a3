"""A controller's status as a JSON document: written out of its classes, and checked after it was read."""

from __future__ import annotations

import datetime
import os
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import attrs

from htppower._version import __version__
from htppower.backends.base import Description
from htppower.control.clock.reading import ClockReading, ClockStatus
from htppower.control.core.session_record import LastCall, LastError
from htppower.control.gate.cold_starts import WAIT_BOUNDS_US, ColdStarts
from htppower.control.plans.precedence import Claim
from htppower.control.status.controller_status import ControllerStatus, SessionStatus
from htppower.control.status.cores import CoreStatus
from htppower.control.status.json_form import Forms, Shown
from htppower.control.status.process_identity import place, started
from htppower.errors import CallUnderWay, VoteRejected
from htppower.events import Degradation, State
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native import NativeConfig
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = 1
KIND = "htppower status"


class _Deciding(Claim):
    # JSON shows its kind, too.
    pass


@attrs.frozen
class _Votes:
    """The votes on a power config id.

    Attributes:
        power_config_id: the id.
        configs: the votes on it.
    """

    power_config_id: int
    configs: tuple[NativeConfig, ...]


def _votes(session: SessionStatus) -> list[_Votes]:
    return [_Votes(power_config_id, votes.native(power_config_id)) for power_config_id, votes in session.votes.items()]


def _error(of: Callable[[Any], VoteRejected]) -> dict[str, Any]:
    return {
        "function": Shown(str, lambda value: of(value).function, "the native function."),
        "code": Shown(int, lambda value: of(value).code, "the native code."),
        "name": Shown(str, lambda value: of(value).name, "the vendor's name of the code."),
        "message": Shown(str, lambda value: str(of(value)), "what failed, and what to do."),
    }


def _clock(clock: str, says: str) -> Shown:
    limits = ("min", "target", "max")
    read = attrgetter(*(f"effective.{clock}_{limit}" for limit in limits))

    def get(core: CoreStatus) -> dict[str, str]:
        numbers = read(core)
        kind = VoltageCorner if numbers[0] in VoltageCorner.__members__.values() else ExpandedCorner
        return {limit: kind(number).name for limit, number in zip(limits, numbers, strict=True)}

    return Shown(
        dict[Literal["min", "target", "max"], str],
        get,
        f"{says}: its `min`, `target` and `max`, by the vendor's names.",
    )


def _effective(name: str, hint: type, says: str) -> Shown:
    return Shown(hint, attrgetter(f"effective.{name}"), says)


def _written(_status: ControllerStatus) -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


def _hints(kind: type, *without: str) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name not in without}


# The classes that JSON does not show as they are. A class must be defined before the classes that refer to it.
_FORMS = Forms()
_CLAIM: dict[str, Any] = {
    "profile": Shown(str, attrgetter("profile.name"), "the name of its profile."),
    "reason": str,
    "since_us": int,
    "until_us": int | None,
}
_FORMS.define(Claim, **_CLAIM)
_FORMS.define(_Deciding, kind=str, **_CLAIM)
_FORMS.define(VoteRejected, **_error(lambda error: error))
_FORMS.define(LastError, time_us=int, **_error(attrgetter("error")))
_FORMS.define(
    LastCall,
    **_hints(LastCall, "duration_us"),
    name=Shown(str, lambda call: code_name(call.code), "the vendor's name of the code."),
    duration_us=int,
)
_FORMS.define(CallUnderWay, **_hints(CallUnderWay, "lasted_us"))
_FORMS.define(
    ColdStarts,
    count=Shown(int, says="how many."),
    wait_us=int,
    by_bound=Shown(
        tuple[int, ...],
        says="how many waited up to each of `wait_bounds_us`, and longer than the bound before it; at the end, how "
        "many waited longer than the last bound.",
    ),
)
_FORMS.define(Degradation, rule=str, option=Shown(str, attrgetter("option.name")), message=str, hint=str)
_FORMS.define(NativeConfig, option=str, fields=dict[str, int], symbols=dict[str, str])
_FORMS.define(
    Description,
    name=str,
    library=str,
    platform=str | None,
    hardware=bool,
    versions=Shown(dict[str, str], lambda backend: dict(backend.versions)),
)
_FORMS.define(
    SessionStatus,
    later=("inferences", "cold_starts", "learnt", "learnt_further", "closing", "cpu_latency", "pace"),
    **{**_hints(SessionStatus), "decided_by": _Deciding | None, "votes": Shown(tuple[_Votes, ...], _votes)},
)
_FORMS.define(
    CoreStatus,
    device_id=int,
    core_id=int,
    core=_clock("core", "the core clock in force"),
    bus=_clock("bus", "the bus clock in force"),
    hmx=_clock("hmx", "the HMX clock in force"),
    sleep_latency_us=_effective("sleep_latency_us", int, "the smallest wish of any session; 65535 is none."),
    sleep_disable=_effective("sleep_disable", bool, "whether any session keeps the DSP from sleeping."),
    dcvs_enable=_effective("dcvs_enable", bool, "whether DCVS may move the clocks."),
    decided_by=dict[Literal["core", "bus", "hmx", "sleep_latency_us"], tuple[int, ...]],
    unknown=tuple[int, ...],
)
_FORMS.define(
    ClockReading,
    time_us=Shown(int, lambda reading: reading.when_ns // 1000, "when it was read."),
    **_hints(ClockReading, "source", "when_ns"),
)
STATUS = _FORMS.define(
    ControllerStatus,
    later=("calls_under_way", "inferences", "link", "wait_bounds_us", "clocks"),
    format=Shown(int, lambda _: FORMAT, f"{FORMAT}; a greater number is a form that this page does not describe."),
    kind=Shown(str, lambda _: KIND, f"`{KIND}`."),
    htppower=Shown(str, lambda _: __version__, "the version that wrote it."),
    written=Shown(str, _written, "when, by the wall clock, in UTC."),
    closed=Shown(bool, lambda _: False, "whether it is the last: nothing is written after it."),
    pid=Shown(int, lambda _: os.getpid(), "the process."),
    started_ticks=Shown(
        int | None,
        lambda _: started(os.getpid()),
        "when the process was started, in the kernel's ticks since boot; null off Linux.",
    ),
    place=Shown(str | None, lambda _: place(), "the boot and the pid namespace of the pid; null off Linux."),
    **_hints(ControllerStatus, "process", "clocks"),
    wait_bounds_us=Shown(
        tuple[int, ...], lambda _: WAIT_BOUNDS_US, "the bounds of `sessions[].cold_starts.by_bound[]`."
    ),
    clocks=Shown(
        tuple[ClockStatus, ...],
        says="the measured clocks and powers, one for each reader; the field is missing without a reader.",
    ),
)


def status_document(status: ControllerStatus, *, closed: bool) -> dict[str, Any]:
    """Return the status of a controller of this process, with the current wall clock.

    ``closed``: it is the last status of the controller.
    """
    document = {**STATUS.write(status), "closed": closed}
    if not status.clocks:
        del document["clocks"]
    for session in document["sessions"]:
        for name in ("cpu_latency", "pace"):
            if session[name] is None:
                del session[name]
    return document


def problem(document: object) -> str | None:
    """Return what is wrong with a document that was read; None if it is a status."""
    return STATUS.wrong(document, "")


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without the fields that change even if nothing happens, such as the time."""
    sessions = [{**session, "time_in_state_us": None} for session in document["sessions"]]
    return {**document, "written": None, "time_us": None, "sessions": sessions}


def may_change(document: dict[str, Any]) -> bool:
    """Return whether a status may change without an event: if so, the file is written once a second."""
    recording = document["recording"]
    if recording is not None and (recording["pending"] or recording["error"] is not None):
        return True
    up = any(session["state"] == State.RAISED or session["in_flight"] for session in document["sessions"])
    # Files of earlier versions have no ``calls_under_way``.
    return up or bool(document.get("calls_under_way"))

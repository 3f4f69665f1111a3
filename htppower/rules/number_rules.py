"""The rules of the votes that are numbers: remote calls, the HMX timeout, the DDR performance mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import Finding, printable
from htppower.rules.check_parts import hvx_at
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, Rule, mine, my_votes, rule
from htppower.votes.clock_votes import DcvsV3Exp
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.options import VOTE_OPTIONS, Option
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case
    from htppower.rules.platforms import Platform

_LATENCY = ("votes", "rpc_control_latency_us")
_POLLING = ("votes", "rpc_polling_time_us")
_ADAPTIVE = ("votes", "adaptive_polling_time_us")
_TIMEOUT = ("votes", "hmx_timeout_us")
_DDR = ("votes", "ddr_perf_mode")

_SMALLEST_ADAPTIVE_POLLING_US = 1000
_LATENCY_CRITICAL_BELOW_US = 200
_POLLING_MODES = ("burst", "sustained_high_performance", "high_performance")
_POLLING_PROFILES = frozenset((*_POLLING_MODES, *(f"llm_decode_{mode}" for mode in _POLLING_MODES)))
# The vendor's llm_decode_burst asks for the DDR performance mode from Hexagon V79 on, but V79 lacks this mode.
_DDR_WHERE_IT_IS = "llm_decode_burst"
_POSITIVE = {"type": "integer", "minimum": 1}


def _bus_at(highest: str) -> dict[str, Any]:
    """Return the JSON Schema of an HVX vote whose bus corners are all the highest."""
    corner = {"const": highest}
    limits = {**OBJECT, "properties": dict.fromkeys(("min", "target", "max"), corner)}
    return {**OBJECT, "properties": {"bus": {"anyOf": [corner, limits]}}}


@rule(
    "RPC-1",
    "The RPC polling time is 0 to 9999 us.",
    Breach.ERROR,
    "vendor",
    why="Longer polling is not defined, but the library silently accepts any number.",
    mend="State 0 to 9999 us; 0 is off.",
    wrong=my_votes("rpc_polling_time_us: 10000"),
    right=my_votes("rpc_polling_time_us: 9999"),
    fields=(_POLLING,),
)
def _polling_range(case: Case) -> Iterator[Finding]:
    polling_us = case.votes.rpc_polling_time_us
    limits = LIMITS[VoteSet, "rpc_polling_time_us"]
    if polling_us is not None and not limits.hold(polling_us):
        yield Finding("RPC-1", _POLLING, f"the polling time is {polling_us} us", f"{limits}; 0 is off")


@rule(
    "RPC-2",
    "Adaptive polling needs polling.",
    Breach.ERROR,
    "vendor",
    why="Adaptive polling sets when polling begins. If nothing polls, it has no effect.",
    mend="State a polling time above 0, too, or leave adaptive polling unset.",
    wrong=my_votes("rpc_polling_time_us: 0, adaptive_polling_time_us: 1000"),
    right=my_votes("rpc_polling_time_us: 9999, adaptive_polling_time_us: 1000"),
    needs=(Needs.FIELDS,),
    fields=(_POLLING, _ADAPTIVE),
    schema=(IfThen({"adaptive_polling_time_us": _POSITIVE}, {"rpc_polling_time_us": _POSITIVE}),),
)
def _adaptive_needs_polling(case: Case) -> Iterator[Finding]:
    if case.votes.adaptive_polling_time_us and not case.votes.rpc_polling_time_us:
        hint = "state an rpc_polling_time_us above 0, too"
        yield Finding("RPC-2", _ADAPTIVE, "adaptive polling without polling", hint, also=(_POLLING,))


@rule(
    "RPC-3",
    "Adaptive polling is not for models under 1 ms.",
    Breach.WARNING,
    "vendor",
    why="Adaptive polling lets the CPU sleep before it polls. A model under 1 ms is done earlier, and only loses time.",
    mend="State 1000 us or more, or leave it unset.",
    wrong=my_votes("adaptive_polling_time_us: 500"),
    right=my_votes("adaptive_polling_time_us: 1000"),
    fields=(_ADAPTIVE,),
)
def _adaptive_threshold(case: Case) -> Iterator[Finding]:
    adaptive_us = case.votes.adaptive_polling_time_us
    if adaptive_us and adaptive_us < _SMALLEST_ADAPTIVE_POLLING_US:
        message = f"adaptive polling from {adaptive_us} us on includes models under 1 ms"
        yield Finding("RPC-3", _ADAPTIVE, message, f"{_SMALLEST_ADAPTIVE_POLLING_US} or more")


# A vote of 0 asks for nothing, so dropping it loses nothing.
@rule(
    "RPC-4",
    "RPC latency and polling do not exist on QNX.",
    Breach.DEGRADES,
    "vendor",
    why="QNX has no such settings of remote calls, so the profile is slower to wake up there than elsewhere.",
    mend="Leave these votes unset if the profile is for QNX.",
    wrong=my_votes("rpc_polling_time_us: 9999"),
    right=my_votes("rpc_polling_time_us: unset, rpc_control_latency_us: unset"),
    lint=("--platform", "qnx"),
    needs=(Needs.PLATFORM,),
    fields=(_LATENCY, _POLLING, _ADAPTIVE),
)
def _operating_system(case: Case) -> Iterator[Finding]:
    if case.platform is None:
        return
    for option, vote in case.votes.items():
        about = VOTE_OPTIONS[option]
        if vote and about.rule_if_missing == "RPC-4" and not case.platform.has(option):
            message = f"{about.field} does not exist on {case.platform.os.upper()}"
            yield Finding("RPC-4", ("votes", about.field), message)


@rule(
    "RPC-5",
    "A control latency of 1 to 199 us is latency critical, of 200 us or more moderate; 0 is not a vote and does not "
    "cancel an earlier one.",
    Breach.NOTE,
    "Hexagon SDK, FastRPC",
    why=(
        "The latency acts on the whole process, and no value cancels an earlier one: 0 is not a vote. So a latency "
        "stays until the process ends."
    ),
    mend="Leave it unset if no remote call has to be fast.",
    wrong=my_votes("rpc_control_latency_us: 0"),
    right=my_votes("rpc_control_latency_us: unset"),
    lint=("--notes",),
    fields=(_LATENCY,),
)
def _control_latency(case: Case) -> Iterator[Finding]:
    latency_us = case.votes.rpc_control_latency_us
    if latency_us is None:
        return
    if latency_us == 0:
        says = "not a vote, and does not cancel an earlier one"
    elif latency_us < _LATENCY_CRITICAL_BELOW_US:
        says = "latency critical"
    else:
        says = "moderate"
    unit = " us" if latency_us else ""
    yield Finding("RPC-5", _LATENCY, f"a control latency of {latency_us}{unit} is {says}")


# A profile that extends one of the three counts as one of the three.
@rule(
    "RPC-6",
    "Polling is for burst, sustained_high_performance and high_performance.",
    Breach.WARNING,
    "vendor, profiles table",
    why=(
        "A polling process keeps a CPU core busy while it waits for the DSP: 20 % to 200 % of a core when idle. In a "
        "profile for saving power this costs more than the clocks save."
    ),
    mend="State 0, or extend burst, sustained_high_performance or high_performance.",
    wrong=my_votes("rpc_polling_time_us: 100", "balanced"),
    right=my_votes("rpc_polling_time_us: 0", "balanced"),
    needs=(Needs.PROFILE,),
    fields=(_POLLING,),
)
def _polling_profile(case: Case) -> Iterator[Finding]:
    if case.votes.rpc_polling_time_us and case.lineage and not _POLLING_PROFILES & set(case.lineage):
        message = f"{printable(case.lineage[0])} polls, which costs the CPU 20 % to 200 % of a core when idle"
        hint = "0, or extend burst, sustained_high_performance or high_performance"
        yield Finding("RPC-6", _POLLING, message, hint)


# Only the library can report this, when it is called.
_REFUSED_POLLING = Rule(
    "RPC-7",
    "If FastRPC refuses RPC latency or polling, the clocks are still voted.",
    Breach.DEGRADES,
    "measured: 13006, and the clocks of the same call are not sent",
    why=(
        "The FastRPC library of many boards has no polling: it refuses to turn it on or off. Clocks do not go through "
        "it, so htppower sends these settings in a separate call after the clocks."
    ),
    mend="There is nothing to mend in a file. For polling, install a FastRPC library and a kernel that have it.",
    said="Nothing in a file can break it, only the FastRPC library of the board.",
    fields=(_LATENCY, _POLLING),
)


@rule(
    "TMR-1",
    "The HMX timeout is 100 to 1000000 us.",
    Breach.ERROR,
    "measured: 13001 outside",
    why="The library refuses a call with a timeout outside this range.",
    mend="State 100 to 1000000 us, or leave it unset.",
    wrong=my_votes("hmx_timeout_us: 50"),
    right=my_votes("hmx_timeout_us: 500"),
    fields=(_TIMEOUT,),
)
def _hmx_timeout(case: Case) -> Iterator[Finding]:
    timeout_us = case.votes.hmx_timeout_us
    limits = LIMITS[VoteSet, "hmx_timeout_us"]
    if timeout_us is not None and not limits.hold(timeout_us):
        yield Finding("TMR-1", _TIMEOUT, f"the HMX timeout is {timeout_us} us", str(limits))


@rule(
    "DDR-1",
    "The DDR performance mode needs every bus corner at MAX_VOLTAGE_CORNER, and Hexagon V81 or later.",
    Breach.ERROR,
    "QnnHtpPerfInfrastructure.h, SDK 2.48",
    why="The mode raises the memory above what the highest bus corner gives; below that corner it has no effect.",
    mend="Vote the bus at MAX_VOLTAGE_CORNER, or leave ddr_perf_mode unset.",
    wrong=my_votes("ddr_perf_mode: true, dcvs_v3: {bus: TURBO}"),
    right=my_votes("ddr_perf_mode: true, dcvs_v3: {bus: MAX_VOLTAGE_CORNER}"),
    needs=(Needs.FIELDS, Needs.PLATFORM, Needs.PROFILE),
    fields=(("votes", "dcvs_v3", "bus"), ("votes", "dcvs_v3_exp", "bus"), _DDR),
    schema=(
        IfThen(
            {"ddr_perf_mode": {"const": True}},
            {"dcvs_v3": _bus_at(VoltageCorner.MAX_VOLTAGE_CORNER.name)},
            or_left_out={"dcvs_v3_exp": UNSET},
        ),
        IfThen(
            {"ddr_perf_mode": {"const": True}, "dcvs_v3_exp": OBJECT},
            {"dcvs_v3_exp": _bus_at(ExpandedCorner.MAX.name)},
        ),
    ),
)
def _ddr_perf_mode(case: Case) -> Iterator[Finding]:
    if not case.votes.ddr_perf_mode:
        return
    hvx = case.votes.hvx
    highest = ExpandedCorner.MAX if isinstance(hvx, DcvsV3Exp) else VoltageCorner.MAX_VOLTAGE_CORNER
    bus = None if hvx is None else hvx.bus
    if bus is None or {bus.min, bus.target, bus.max} != {highest}:
        message = f"the bus corners are not all {highest.name}"
        yield Finding("DDR-1", _DDR, message, f"bus: {highest.name}", also=((*hvx_at(case), "bus"),))
    platform = _without_ddr(case)
    if platform is not None and _DDR_WHERE_IT_IS not in case.lineage:
        yield _no_ddr("DDR-1", platform)


@rule(
    "DDR-2",
    "Below Hexagon V81, llm_decode_burst omits the DDR performance mode.",
    Breach.DEGRADES,
    "vendor, llm_decode profiles of SDK 2.48: from V79 on; measured: 13004 on x86-64",
    why=(
        "The vendor has the profile for Hexagon V79 on, and the mode for V81 on: on V79 the other votes are sent "
        "without it. Any other profile with the mode is refused there (DDR-1)."
    ),
    mend="Leave it as it is, or set ddr_perf_mode unset in a profile that is only for V79.",
    wrong=mine("summary: Mine.", "llm_decode_burst"),
    right=my_votes("ddr_perf_mode: unset", "llm_decode_burst"),
    lint=("--arch", "V79"),
    needs=(Needs.PLATFORM, Needs.PROFILE),
    fields=(_DDR,),
)
def _ddr_where_it_is(case: Case) -> Iterator[Finding]:
    platform = _without_ddr(case)
    if case.votes.ddr_perf_mode and platform is not None and _DDR_WHERE_IT_IS in case.lineage:
        yield _no_ddr("DDR-2", platform)


def _without_ddr(case: Case) -> Platform | None:
    """Return the platform of a case if it lacks the DDR performance mode."""
    platform = case.platform
    return None if platform is None or platform.has(Option.DDR_PERF_MODE) else platform


def _no_ddr(breaks: str, platform: Platform) -> Finding:
    message = f"no DDR performance mode on Hexagon V{platform.arch}"
    return Finding(breaks, _DDR, message, platform.needs(Option.DDR_PERF_MODE))

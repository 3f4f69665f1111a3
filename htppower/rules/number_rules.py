"""The rules of the votes that are numbers: remote calls and the HMX timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, printable
from htppower.rules.rule import Breach, IfThen, Needs, Rule, my_votes, rule
from htppower.votes.options import VOTE_OPTIONS
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case

_LATENCY = ("votes", "rpc_control_latency_us")
_POLLING = ("votes", "rpc_polling_time_us")
_ADAPTIVE = ("votes", "adaptive_polling_time_us")
_TIMEOUT = ("votes", "hmx_timeout_us")

_SMALLEST_ADAPTIVE_POLLING_US = 1000
_LATENCY_CRITICAL_BELOW_US = 200
_POLLING_MODES = ("burst", "sustained_high_performance", "high_performance")
_POLLING_PROFILES = frozenset((*_POLLING_MODES, *(f"llm_decode_{mode}" for mode in _POLLING_MODES)))
_POSITIVE = {"type": "integer", "minimum": 1}


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
    "RPC-8",
    "On Linux boards RPC polling needs FastRPC 1.0.7, and an RPC control latency has no effect.",
    Breach.NOTE,
    "https://github.com/qualcomm/fastrpc, pull request 258 and src/fastrpc_apps_user.c",
    why=(
        "The open FastRPC library refuses polling before 1.0.7, and later ones need a kernel and a chip with it. It "
        "accepts a control latency, and does nothing for it."
    ),
    mend="Do not rely on these two votes on a board; cpu_latency_us keeps the CPU awake there.",
    wrong=my_votes("rpc_polling_time_us: 9999", "burst"),
    right=my_votes("rpc_polling_time_us: 0, rpc_control_latency_us: unset", "burst"),
    lint=("--platform", "linux", "--notes"),
    needs=(Needs.PLATFORM,),
    fields=(_LATENCY, _POLLING),
)
def _open_fastrpc(case: Case) -> Iterator[Finding]:
    if case.platform is None or case.platform.os != "linux":
        return
    if case.votes.rpc_polling_time_us:
        yield Finding("RPC-8", _POLLING, "FastRPC of a Linux board refuses polling before its version 1.0.7")
    if case.votes.rpc_control_latency_us:
        yield Finding("RPC-8", _LATENCY, "FastRPC of a Linux board accepts a control latency, and does nothing for it")


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

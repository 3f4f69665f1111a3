"""The functions behind the rules: each yields a finding for every breach of its rule in a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, printable
from htppower.rules.check_parts import both_forms, disorder, hvx_at, hvx_votes, missing, resulting_hvx
from htppower.votes.clock_votes import DcvsV3Exp, HmxV2
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.options import VOTE_OPTIONS, limits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case


SMALLEST_ADAPTIVE_POLLING_US = 1000
LATENCY_CRITICAL_BELOW_US = 200
POLLING_PROFILES = frozenset({"burst", "sustained_high_performance", "high_performance"})


def sleep_latency(case: Case) -> Iterator[Finding]:
    """DCVS-1."""
    limits = limits_of(Option.DCVS_V3, "sleep_latency_us")
    for name, hvx in hvx_votes(case.votes):
        if hvx.sleep_latency_us is not None and not limits.hold(hvx.sleep_latency_us):
            yield Finding(
                "DCVS-1",
                ("votes", name, "sleep_latency_us"),
                f"the sleep latency is {hvx.sleep_latency_us} us",
                f"{limits}; {limits.high} is no wish",
            )


def clock_order(case: Case) -> Iterator[Finding]:
    """DCVS-2."""
    for name, hvx in hvx_votes(case.votes):
        for clock in ("bus", "core"):
            corners = getattr(hvx, clock)
            said, hint = ("", "") if corners is None else disorder(corners)
            if said:
                yield Finding("DCVS-2", ("votes", name, clock), f"{clock} {said}", hint)


def power_mode(case: Case) -> Iterator[Finding]:
    """DCVS-3."""
    dcvs = case.votes.dcvs_v3
    if dcvs is not None and dcvs.dcvs_enable is False:
        yield Finding(
            "DCVS-3",
            ("votes", "dcvs_v3", "power_mode"),
            f"power mode {dcvs.power_mode.name} does nothing while dcvs_enable is false",
        )


def sleep_disable_cleared(case: Case) -> Iterator[Finding]:
    """DCVS-4."""
    hvx = case.votes.hvx
    if hvx is None or not hvx.sleep_disable or case.lowered is None:
        return
    lowered = case.lowered.hvx
    if lowered is None or lowered.sleep_disable is not False:
        yield Finding(
            "DCVS-4",
            ("relax", "to"),
            "the profile sets sleep_disable and its power state does not clear it",
            "relax to a power state with sleep_disable: false",
            also=(("votes", case.votes.hvx_field, "sleep_disable"),),
        )


def one_hvx_form(case: Case) -> Iterator[Finding]:
    """DCVS-5."""
    yield from both_forms("DCVS-5", case.votes, Option.DCVS_V3, "the HVX vote")


def expanded_architecture(case: Case) -> Iterator[Finding]:
    """DCVS-6."""
    yield from missing(case, "DCVS-6", "the clocks get no vote")


def hmx_architecture(case: Case) -> Iterator[Finding]:
    """HMX-1; the default HMX vote needs no architecture, since it applies where none is sent (HMX-4)."""
    hmx = case.votes.hmx_v2
    if _is_explicit(hmx) and case.platform is not None and not case.platform.has(Option.HMX_V2):
        yield Finding(
            "HMX-1",
            ("votes", "hmx_v2"),
            f"no explicit HMX votes on Hexagon V{case.platform.arch}: the HMX clock follows the core clock",
            f"{case.platform.needs(Option.HMX_V2)}, or hmx_v2: default",
        )


def hmx_needs_hvx(case: Case) -> Iterator[Finding]:
    """HMX-3; a DCVS_V3 vote of DISABLE corners satisfies the library, but is no active vote on the DSP."""
    hmx = case.votes.hmx_v2
    if hmx is None:
        return
    hvx = resulting_hvx(case)
    if hvx is None:
        message = "an HMX vote without an HVX vote on the id"
        hint = "state dcvs_v3, or hmx_v2: unset"
        yield Finding("HMX-3", ("votes", "hmx_v2"), message, hint, also=(hvx_at(case),))
    elif _is_explicit(hmx) and not hvx.active:
        yield Finding(
            "HMX-3",
            ("votes", "hmx_v2"),
            "an explicit HMX vote while the HVX vote is DISABLE",
            "vote a core target, or hmx_v2: default",
            also=((*hvx_at(case), "core"),),
        )


def hmx_reverted(case: Case) -> Iterator[Finding]:
    """HMX-5."""
    if case.in_force is not None and _is_explicit(case.in_force.hmx_v2) and case.votes.hmx_v2 is None:
        yield Finding(
            "HMX-5",
            ("votes", "hmx_v2"),
            "an explicit HMX vote is in force and this set does not say what becomes of it",
            "hmx_v2: default",
        )


def hmx_change(case: Case) -> Iterator[Finding]:
    """HMX-6; a set that carries its own HVX vote gives the id a valid one."""
    if case.in_force is None or case.in_force.hmx_v2 is None or case.votes.hvx is not None:
        return
    changes = case.votes.hmx_v2 is not None and case.votes.hmx_v2 != case.in_force.hmx_v2
    hvx = case.in_force.hvx
    if changes and (hvx is None or not hvx.active):
        yield Finding(
            "HMX-6",
            ("votes", "hmx_v2"),
            "the HMX vote is changed on an id without a valid HVX vote",
            "send DCVS_V3 in the same call",
        )


def hmx_order(case: Case) -> Iterator[Finding]:
    """HMX-8."""
    hmx = case.votes.hmx_v2
    if hmx is None:
        return
    at = ("votes", "hmx_v2")
    if not all(isinstance(corner, ExpandedCorner) for corner in (hmx.min, hmx.target, hmx.max)):
        yield Finding("HMX-8", at, f"the HMX corners are {_spell(hmx)}", "expanded corners, such as TUR")
        return
    said, hint = ("", "") if hmx.pick_default else disorder(hmx)
    if said:
        yield Finding("HMX-8", at, f"HMX {said}", hint)


def polling_range(case: Case) -> Iterator[Finding]:
    """RPC-1."""
    polling_us = case.votes.rpc_polling_time_us
    limits = limits_of(Option.RPC_POLLING_TIME)
    if polling_us is not None and not limits.hold(polling_us):
        at = ("votes", "rpc_polling_time_us")
        yield Finding("RPC-1", at, f"the polling time is {polling_us} us", f"{limits}; 0 is off")


def adaptive_needs_polling(case: Case) -> Iterator[Finding]:
    """RPC-2."""
    if case.votes.adaptive_polling_time_us and not case.votes.rpc_polling_time_us:
        yield Finding(
            "RPC-2",
            ("votes", "adaptive_polling_time_us"),
            "adaptive polling without polling",
            "state an rpc_polling_time_us above 0, too",
            also=(("votes", "rpc_polling_time_us"),),
        )


def adaptive_threshold(case: Case) -> Iterator[Finding]:
    """RPC-3."""
    adaptive_us = case.votes.adaptive_polling_time_us
    if adaptive_us and adaptive_us < SMALLEST_ADAPTIVE_POLLING_US:
        yield Finding(
            "RPC-3",
            ("votes", "adaptive_polling_time_us"),
            f"adaptive polling from {adaptive_us} us on takes in models under 1 ms",
            f"{SMALLEST_ADAPTIVE_POLLING_US} or more",
        )


def rpc_platform(case: Case) -> Iterator[Finding]:
    """RPC-4; a vote of 0 asks for nothing, so nothing is lost."""
    if case.platform is None:
        return
    for option, vote in case.votes.items():
        about = VOTE_OPTIONS[option]
        if vote and about.rule_if_missing == "RPC-4" and not case.platform.has(option):
            message = f"{about.field} does not exist on {case.platform.os.upper()}"
            yield Finding("RPC-4", ("votes", about.field), message)


def control_latency(case: Case) -> Iterator[Finding]:
    """RPC-5."""
    latency_us = case.votes.rpc_control_latency_us
    if latency_us is None:
        return
    if latency_us == 0:
        says = "a control latency of 0 is no vote, and does not take an earlier one back"
    elif latency_us < LATENCY_CRITICAL_BELOW_US:
        says = f"a control latency of {latency_us} us is latency critical"
    else:
        says = f"a control latency of {latency_us} us is moderate"
    yield Finding("RPC-5", ("votes", "rpc_control_latency_us"), says)


def polling_profile(case: Case) -> Iterator[Finding]:
    """RPC-6; a profile that extends one of the three counts as one of them."""
    if case.votes.rpc_polling_time_us and case.lineage and not POLLING_PROFILES & set(case.lineage):
        yield Finding(
            "RPC-6",
            ("votes", "rpc_polling_time_us"),
            f"{printable(case.lineage[0])} polls, which costs the CPU 20 % to 200 % of a core when idle",
            "0, or extend burst, sustained_high_performance or high_performance",
        )


def hmx_timeout(case: Case) -> Iterator[Finding]:
    """TMR-1."""
    timeout_us = case.votes.hmx_timeout_us
    limits = limits_of(Option.HMX_TIMEOUT_INTERVAL_US)
    if timeout_us is not None and not limits.hold(timeout_us):
        yield Finding("TMR-1", ("votes", "hmx_timeout_us"), f"the HMX timeout is {timeout_us} us", str(limits))


def ddr_perf_mode(case: Case) -> Iterator[Finding]:
    """DDR-1."""
    if not case.votes.ddr_perf_mode:
        return
    at = ("votes", "ddr_perf_mode")
    hvx = case.votes.hvx
    highest = ExpandedCorner.MAX if isinstance(hvx, DcvsV3Exp) else VoltageCorner.MAX_VOLTAGE_CORNER
    bus = None if hvx is None else hvx.bus
    if bus is None or {bus.min, bus.target, bus.max} != {highest}:
        message = f"the bus corners are not all {highest.name}"
        yield Finding("DDR-1", at, message, f"bus: {highest.name}", also=((*hvx_at(case), "bus"),))
    if case.platform is not None and not case.platform.has(Option.DDR_PERF_MODE):
        message = f"no DDR performance mode on Hexagon V{case.platform.arch}"
        yield Finding("DDR-1", at, message, case.platform.needs(Option.DDR_PERF_MODE))


def _is_explicit(hmx: HmxV2 | None) -> bool:
    return hmx is not None and not hmx.pick_default


def _spell(corners: HmxV2) -> str:
    return " / ".join(corner.name for corner in (corners.min, corners.target, corners.max))

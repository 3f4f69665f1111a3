"""The rules of the DDR performance mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import Finding
from htppower.rules.check_parts import hvx_at
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, mine, my_votes, rule
from htppower.votes.clock_votes import DcvsV3Exp
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.options import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case
    from htppower.rules.platforms import Platform

_DDR = ("votes", "ddr_perf_mode")
_POLLING = ("votes", "rpc_polling_time_us")
# The vendor's llm_decode_burst asks for the DDR performance mode from Hexagon V79 on, but V79 lacks this mode.
_DDR_WHERE_IT_IS = "llm_decode_burst"


def _bus_at(highest: str) -> dict[str, Any]:
    """Return the JSON Schema of an HVX vote whose bus corners are all the highest."""
    corner = {"const": highest}
    limits = {**OBJECT, "properties": dict.fromkeys(("min", "target", "max"), corner)}
    return {**OBJECT, "properties": {"bus": {"anyOf": [corner, limits]}}}


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


@rule(
    "DDR-3",
    "The DDR performance mode acts only while RPC polling is on; the vendor has it for language models on Android.",
    Breach.WARNING,
    "QnnHtpPerfInfrastructure.h, HTP API 5.50",
    why="Without polling the library takes the vote, but the memory keeps its speed.",
    mend="State an rpc_polling_time_us above 0, too, or leave ddr_perf_mode unset.",
    wrong=my_votes("ddr_perf_mode: true, rpc_polling_time_us: 0", "llm_decode_burst"),
    right=my_votes("ddr_perf_mode: true, rpc_polling_time_us: 9999", "llm_decode_burst"),
    needs=(Needs.FIELDS,),
    fields=(_DDR, _POLLING),
)
def _ddr_needs_polling(case: Case) -> Iterator[Finding]:
    if case.votes.ddr_perf_mode and not case.votes.rpc_polling_time_us:
        hint = "state an rpc_polling_time_us above 0, too"
        yield Finding("DDR-3", _DDR, "the DDR performance mode without polling has no effect", hint, also=(_POLLING,))


def _without_ddr(case: Case) -> Platform | None:
    """Return the platform of a case if it lacks the DDR performance mode."""
    platform = case.platform
    return None if platform is None or platform.has(Option.DDR_PERF_MODE) else platform


def _no_ddr(breaks: str, platform: Platform) -> Finding:
    message = f"no DDR performance mode on Hexagon V{platform.arch}"
    return Finding(breaks, _DDR, message, platform.needs(Option.DDR_PERF_MODE))

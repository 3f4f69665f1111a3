"""Writes a vote set as the blocks of an item of a custom profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.votes.clock_votes import HVX_EXP_REMOVED, HVX_REMOVED, DcvsV3

if TYPE_CHECKING:
    from htppower.votes.clock_votes import Ceng, CengExp, DcvsV3Exp, HmxV2
    from htppower.votes.vote_set import VoteSet


def item_blocks(votes: VoteSet) -> dict[str, Any]:
    """Return the blocks of a vote set; for a field that the HVX vote leaves unset, the value that cancels it."""
    hvx = votes.hvx
    blocks: dict[str, Any] = {}
    if hvx is None or isinstance(hvx, DcvsV3):
        blocks["dcvsControl"] = _dcvs(hvx or HVX_REMOVED)
    else:
        blocks["dcvsExpControl"] = _dcvs_exp(hvx)
    if votes.hmx_v2 is not None:
        blocks["hmxControl"] = hmx_block(votes.hmx_v2)
    if votes.ceng is not None:
        blocks["cengControl"] = _ceng(votes.ceng)
    if votes.ceng_exp is not None:
        blocks["cengExpControl"] = _ceng(votes.ceng_exp)
    return blocks


def hmx_block(hmx: HmxV2) -> dict[str, Any]:
    """Return an ``hmxControl``; 2.47 accepts it only with all its corners."""
    return {"hmxPickDefault": int(hmx.pick_default), "hmxPerfMode": int(hmx.perf_mode), **_corners("hmx", hmx)}


def _dcvs(hvx: DcvsV3) -> dict[str, Any]:
    return {
        "enableDcvs": HVX_REMOVED.dcvs_enable if hvx.dcvs_enable is None else hvx.dcvs_enable,
        "powerMode": hvx.power_mode.enumerator,
        "sleep_latency_us": HVX_REMOVED.sleep_latency_us if hvx.sleep_latency_us is None else hvx.sleep_latency_us,
        **_corners("bus", hvx.bus or HVX_REMOVED.bus),
        **_corners("core", hvx.core or HVX_REMOVED.core),
    }


def _dcvs_exp(hvx: DcvsV3Exp) -> dict[str, Any]:
    latency_us = HVX_EXP_REMOVED.sleep_latency_us if hvx.sleep_latency_us is None else hvx.sleep_latency_us
    return {
        "powerMode": hvx.power_mode.enumerator,
        "sleep_latency_us": latency_us,
        **({} if hvx.sleep_disable is None else {"sleepDisable": int(hvx.sleep_disable)}),
        **_corners("bus", hvx.bus or HVX_EXP_REMOVED.bus),
        **_corners("core", hvx.core or HVX_EXP_REMOVED.core),
        "corePerfMode": int(hvx.core_perf_mode),
        "busPerfMode": int(hvx.bus_perf_mode),
    }


def _ceng(ceng: Ceng | CengExp) -> dict[str, Any]:
    return {**_corners("ceng", ceng), "cengPerfMode": int(ceng.perf_mode)}


def _corners(clock: str, limits: Any) -> dict[str, str]:
    """Return min, target and max of a clock."""
    corners = (("Min", limits.min), ("Target", limits.target), ("Max", limits.max))
    return {f"{clock}VoltageCorner{name}": corner.enumerator for name, corner in corners}

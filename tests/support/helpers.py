"""Votes and native lists that several test files build."""

from __future__ import annotations

from typing import Any

import attrs

from htppower.votes.clock_votes import Ceng, CengExp, DcvsV3, DcvsV3Exp, ExpandedRange, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.native import NativeConfig


def hvx(corner: VoltageCorner = VoltageCorner.TURBO, **changes: Any) -> DcvsV3:
    """Return an HVX vote that holds core and bus at one corner, with changes to other fields."""
    at = VoltageRange.at(corner)
    vote = DcvsV3(
        dcvs_enable=False,
        power_mode=PowerMode.PERFORMANCE,
        sleep_latency_us=100,
        sleep_disable=None,
        bus=at,
        core=at,
    )
    return attrs.evolve(vote, **changes)


def nothing_set(**changes: Any) -> DcvsV3:
    """Return an HVX vote with only the given fields set."""
    return hvx(**{"dcvs_enable": None, "sleep_latency_us": None, "bus": None, "core": None, **changes})


def corners(low: str, target: str, high: str) -> VoltageRange:
    """Return a range from the names of its corners."""
    return VoltageRange(VoltageCorner[low], VoltageCorner[target], VoltageCorner[high])


def hmx(low: str = "TUR", target: str | None = None, high: str | None = None) -> HmxV2:
    """Return an explicit HMX vote from the names of its corners; one name stands for all three."""
    lowest, aim, highest = (ExpandedCorner[name or low] for name in (low, target, high))
    return HmxV2(lowest, aim, highest, ClkPerfMode.HIGH)


def expanded(low: str, target: str | None = None, high: str | None = None) -> ExpandedRange:
    """Return a range of expanded corners from their names; one name stands for all three."""
    return ExpandedRange(*(ExpandedCorner[name or low] for name in (low, target, high)))


def hvx_exp(corner: str = "TUR", **changes: Any) -> DcvsV3Exp:
    """Return an HVX vote that holds core and bus at one expanded corner, with changes to other fields."""
    vote = DcvsV3Exp(
        power_mode=PowerMode.PERFORMANCE,
        sleep_latency_us=100,
        sleep_disable=None,
        bus=expanded(corner),
        core=expanded(corner),
        core_perf_mode=ClkPerfMode.HIGH,
        bus_perf_mode=ClkPerfMode.HIGH,
    )
    return attrs.evolve(vote, **changes)


def ceng(low: str = "NOM", target: str | None = None, high: str | None = None) -> Ceng:
    """Return a CENG vote from the names of its corners; one name stands for all three."""
    lowest, aim, highest = (VoltageCorner[name or low] for name in (low, target, high))
    return Ceng(lowest, aim, highest, ClkPerfMode.HIGH)


def ceng_exp(low: str = "NOM", target: str | None = None, high: str | None = None) -> CengExp:
    """Return a CENG vote from the names of its expanded corners; one name stands for all three."""
    lowest, aim, highest = (ExpandedCorner[name or low] for name in (low, target, high))
    return CengExp(lowest, aim, highest, ClkPerfMode.HIGH)


def native_dcvs(power_config_id: int, **changes: int) -> NativeConfig:
    """Return a native DCVS_V3 at TURBO for this id, with changes to other fields."""
    fields = {
        "contextId": power_config_id,
        "setDcvsEnable": 1,
        "dcvsEnable": 0,
        "powerMode": 16,
        "setSleepLatency": 1,
        "sleepLatency": 100,
        "setSleepDisable": 0,
        "sleepDisable": 0,
        "setBusParams": 1,
        "busVoltageCornerMin": 128,
        "busVoltageCornerTarget": 128,
        "busVoltageCornerMax": 128,
        "setCoreParams": 1,
        "coreVoltageCornerMin": 128,
        "coreVoltageCornerTarget": 128,
        "coreVoltageCornerMax": 128,
    }
    return NativeConfig("DCVS_V3", fields | changes)


def native_hmx(**changes: int) -> NativeConfig:
    """Return a native explicit HMX_V2 at TUR, with changes to other fields."""
    fields = {
        "hmxPickDefault": 0,
        "hmxVoltageCornerMin": 640,
        "hmxVoltageCornerTarget": 640,
        "hmxVoltageCornerMax": 640,
        "hmxPerfMode": 0,
    }
    return NativeConfig("HMX_V2", fields | changes)


def native_ceng(perf_mode: int = 0) -> NativeConfig:
    """Return a native CENG vote at TURBO."""
    limits = ("cengVoltageCornerMin", "cengVoltageCornerTarget", "cengVoltageCornerMax")
    return NativeConfig("CENG", dict.fromkeys(limits, 128) | {"cengPerfMode": perf_mode})


def native_dcvs_exp(power_config_id: int, **changes: int) -> NativeConfig:
    """Return a native DCVS_V3_EXP at TUR for this id, with changes to other fields."""
    fields = {
        "contextId": power_config_id,
        "powerMode": 16,
        "setSleepLatency": 1,
        "sleepLatency": 100,
        "setSleepDisable": 0,
        "sleepDisable": 0,
        "setBusParams": 1,
        "busVoltageCornerMin": 640,
        "busVoltageCornerTarget": 640,
        "busVoltageCornerMax": 640,
        "setCoreParams": 1,
        "coreVoltageCornerMin": 640,
        "coreVoltageCornerTarget": 640,
        "coreVoltageCornerMax": 640,
        "corePerfMode": 0,
        "busPerfMode": 0,
    }
    return NativeConfig("DCVS_V3_EXP", fields | changes)


def native_ceng_exp(**changes: int) -> NativeConfig:
    """Return a native CENG_EXP at TUR, with changes to other fields."""
    limits = ("cengVoltageCornerMin", "cengVoltageCornerTarget", "cengVoltageCornerMax")
    return NativeConfig("CENG_EXP", dict.fromkeys(limits, 640) | {"cengPerfMode": 0} | changes)


def native_scalar(option: str, value: int = 1) -> NativeConfig:
    """Return a native vote of one number."""
    fields = {
        "RPC_CONTROL_LATENCY": "rpcControlLatencyConfig",
        "RPC_POLLING_TIME": "rpcPollingTimeConfig",
        "ADAPTIVE_POLLING_TIME": "adaptivePollingTimeConfig",
        "HMX_TIMEOUT_INTERVAL_US": "hmxTimeoutIntervalUsConfig",
        "DDR_PERF_MODE": "ddrPerfModeConfig",
    }
    return NativeConfig(option, {fields[option]: value})


def native_unknown(number: int) -> NativeConfig:
    """Return a native option that no library knows."""
    return NativeConfig("UNKNOWN", {}, number=number)


def enumerators(prefix: str, text: str) -> dict[str, int]:
    """Return enumerators that are written as name and number in turn, without their common prefix."""
    words = text.split()
    return {prefix + name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}

"""What a profile votes for the advice, and the settings of a runtime that votes by itself.

A profile's polling, sustain time and speed are None if the profile is unknown. A runtime that votes by itself has no
profile to change, so the advice names its own settings.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.hosts.qnn_provider import CONTROL_LATENCY, PERFORMANCE_MODE, RUN_LATENCY
from htppower.profiles.expressed import records
from htppower.profiles.names import own_name
from htppower.profiles.profile import is_held
from htppower.profiles.sustain import VENDOR_SUSTAIN_US, longest_us
from htppower.tools.runtimes.litert import CONTROL_FLAG, MODE_FLAG, NUMBERS, RUN_TIME_OPTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.profile import Profile

# The longest polling time that the vendor allows. Those of its profiles that poll use it.
LONGEST_POLLING_US = 9_999
# Speed by the core's corner, MAX = 1: prefill of a language model on X Elite, under the profile of each corner (GenieX,
# pull request 1447). Other graphs have other figures in the same order.
SPEEDS: Mapping[str, float] = MappingProxyType(
    {
        "MAX_VOLTAGE_CORNER": 1.0,
        "TURBO_PLUS": 0.99,
        "TURBO": 0.98,
        "NOM_PLUS": 0.955,
        "NOM": 0.896,
        "SVS_PLUS": 0.825,
        "SVS": 0.702,
        "SVS2": 0.447,
    }
)
# The shipped profile for each speed below burst, the highest first.
LOWER: Mapping[str, float] = MappingProxyType(
    {"balanced": 0.955, "low_balanced": 0.896, "high_power_saver": 0.825, "power_saver": 0.702}
)
_ONNXRUNTIME, _VENDOR, _EXECUTORCH, _AUTO = "onnxruntime", "vendor", "executorch", "litert-auto"
_LITERT = ("litert", _AUTO)
_LATENCY_US = 100
HOLD = "htppower profile NAME -- COMMAND   # holds the votes up while the command runs"
# The advised sustain time, in lengths of the pause. REV-8 reports a sustain time longer than the last of these.
_MARGIN = 1.2
_ROUND_UP_US = 100_000
_LONGEST_SUSTAIN_US = 10_000_000
_OF_CORE = "   # of the core, in the extension file"
_OF_PROVIDER = "   # among the provider options"


def polling_us(profile: Profile | None) -> int | None:
    """Return for how long the CPU polls; 0 if it does not; None if the profile is not known."""
    if profile is None:
        return None
    return profile.votes.rpc_polling_time_us or 0


def sustain_us(profile: Profile | None) -> float | None:
    """Return for how long votes stay up after an inference; None if the profile is not known, or sends no votes.

    It is infinite if nothing is lowered until the model is released.
    """
    if profile is None or profile.relax is None:
        return None
    return math.inf if is_held(profile) else longest_us(profile.relax.after_inference_us)


def speed(profile: Profile | None) -> float | None:
    """Return the speed of the corner that a profile votes, burst = 1; None if it is not known."""
    hvx = None if profile is None else profile.votes.hvx
    core = None if hvx is None else hvx.core
    return None if core is None else SPEEDS.get(core.target.name)


def recorded_runtime(profile: Profile | None) -> str | None:
    """Return the runtime whose votes a profile records; empty if it is unknown; None if the profile is not a record."""
    if profile is None or profile.provenance is None:
        return None
    runtime = profile.name.rpartition(":")[0]
    return runtime if runtime in (_ONNXRUNTIME, _VENDOR, _EXECUTORCH, *_LITERT) else ""


def lacks(profile: Profile, what: str) -> str:
    """Return, in words, that the runtime of a record has no setting for something."""
    return f"{recorded_runtime(profile) or 'its runtime'} has no setting for {what}"


def awake(profile: Profile, *, polls: bool, adaptive_us: int | None) -> tuple[str, ...]:
    """Return what keeps the CPU awake between call and answer; nothing if the runtime has no such setting.

    Args:
        profile: a record.
        polls: whether the SoC can poll.
        adaptive_us: the shortest inference to poll adaptively; None for no adaptive polling.
    """
    runtime = recorded_runtime(profile)
    if runtime == _VENDOR:
        keys = [f'"rpc_control_latency": {_LATENCY_US}']
        keys += [f'"rpc_polling_time": {LONGEST_POLLING_US}'] if polls else []
        keys += [f'"adaptive_polling_time": {adaptive_us}'] if polls and adaptive_us is not None else []
        return (f"{', '.join(keys)}{_OF_CORE}",)
    lines = []
    if runtime == _ONNXRUNTIME and not profile.votes.rpc_control_latency_us:
        lines.append(f"{CONTROL_LATENCY}={_LATENCY_US}{_OF_PROVIDER}, or {RUN_LATENCY} among the options of a run")
    mode = _polling_mode(profile) if polls else ""
    return (*lines, f"{_mode(runtime or '', mode)}; it polls") if mode else tuple(lines)


def polled_adaptively(profile: Profile, adaptive_us: int) -> tuple[str, ...]:
    """Return what makes the runtime of a record poll adaptively; nothing if it has no such setting."""
    if recorded_runtime(profile) != _VENDOR:
        return ()
    keys = f'"adaptive_polling_time": {adaptive_us}, "rpc_polling_time": {LONGEST_POLLING_US}'
    return (f"{keys}{_OF_CORE}",)


def kept_up(profile: Profile, pause_us: float) -> tuple[str, ...]:
    """Return what keeps votes up over a pause; nothing if the runtime of a record has no such setting."""
    runtime = recorded_runtime(profile)
    if runtime == _AUTO:
        return (f"{CONTROL_FLAG}=manual   # the votes stay up until the model is released",)
    if runtime != _VENDOR or pause_us >= VENDOR_SUSTAIN_US:
        return ()
    for name, record in records(runtime).items():
        if speed(record) == speed(profile) and (sustain_us(record) or 0) > pause_us:
            return (f"{_mode(runtime, name)}; it keeps its votes up for {VENDOR_SUSTAIN_US} us",)
    keys = '"perf_profile": "custom", and in each of its items "sustainInferencePerfState": true'
    return (f"{keys}{_OF_CORE}",)


def outlasting(pause_us: float, what: str) -> tuple[str, ...]:
    """Return the sustain time of a profile that outlasts a pause; a hold if lint would report the time as too long."""
    wanted_us = math.ceil(_MARGIN * pause_us / _ROUND_UP_US) * _ROUND_UP_US
    if wanted_us > _LONGEST_SUSTAIN_US:
        return (HOLD,)
    return (f"relax: {{after_inference_us: {wanted_us}}}   # longer than the {what}",)


def of_mode(profile: Profile, mode: str) -> str:
    """Return what sets another mode in the runtime of a record; empty if the runtime has no mode of that name."""
    runtime = recorded_runtime(profile)
    return _mode(runtime, mode) if runtime and mode in records(runtime) else ""


def _polling_mode(profile: Profile) -> str:
    """Return the slowest mode of a record's runtime that polls and is at least as fast; empty if there is none."""
    runtime = recorded_runtime(profile)
    now = speed(profile)
    if not runtime or now is None:
        return ""
    found = [
        (asked, name)
        for name, record in records(runtime).items()
        if polling_us(record) and (asked := speed(record)) is not None and asked >= now
    ]
    slowest = min((asked for asked, _ in found), default=0.0)
    return next((name for asked, name in found if asked == slowest and name != own_name(profile.name)), "")


def _mode(runtime: str, mode: str) -> str:
    if runtime == _VENDOR:
        return f'"perf_profile": "{mode}"{_OF_CORE}'
    if runtime == _ONNXRUNTIME:
        return f"{PERFORMANCE_MODE}={mode}{_OF_PROVIDER}"
    if runtime == _EXECUTORCH:
        return f"{RUN_TIME_OPTION}={NUMBERS[mode]}   # {mode}"
    return f"{MODE_FLAG}={mode}   # {NUMBERS[mode]} in TOML"

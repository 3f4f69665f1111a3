"""The names of the options of ONNX Runtime's QNN execution provider, and the options that are nearest to a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.expressed import Nearest, nearest

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

PERFORMANCE_MODE = "htp_performance_mode"
CONTROL_LATENCY = "rpc_control_latency"
RUN_MODE = "qnn.htp_perf_mode"
RUN_MODE_AFTER = "qnn.htp_perf_mode_post_run"
RUN_LATENCY = "qnn.rpc_control_latency"


def nearest_mode(profile: Profile) -> Nearest:
    """Return the mode of the provider that is nearest to a profile."""
    return nearest(profile, ("onnxruntime",), ("rpc_control_latency_us",))


def provider_settings(found: Nearest, profile: Profile) -> dict[str, str]:
    """Return the provider options of a mode, with the control latency of a profile."""
    latency_us = profile.votes.rpc_control_latency_us
    return {PERFORMANCE_MODE: found.mode, **({CONTROL_LATENCY: str(latency_us)} if latency_us else {})}

"""The polling, sustain time and speed of a profile; None for an unknown profile."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.profiles.profile import is_held
from htppower.profiles.sustain import longest_us

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
    {
        "balanced": 0.955,
        "low_balanced": 0.896,
        "high_power_saver": 0.825,
        "power_saver": 0.702,
    }
)


def polling_us(profile: Profile | None) -> int | None:
    """Return for how long the CPU polls; 0 if it does not; None if the profile is not known."""
    if profile is None:
        return None
    return profile.votes.rpc_polling_time_us or 0


def polls_adaptively(profile: Profile | None) -> bool:
    """Return whether the profile is known to poll adaptively."""
    return profile is not None and bool(profile.votes.adaptive_polling_time_us)


def sustain_us(profile: Profile | None) -> float | None:
    """Return for how long votes stay up after an inference; None if the profile is not known, or casts no votes.

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

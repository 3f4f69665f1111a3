"""The votes of the vendor's llm_decode profiles, which are for the decoding of a language model on V79 and later.

Source: vendor's documentation, 2.48, "HTP Backend Extensions". What they relax to, latency, polling and the timer are
those of the plain profile of the same suffix, those of ``default`` balanced's (measured).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.extensions.power_keys import LLM_DECODE
from htppower.votes.clock_votes import Ceng, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet

_MAX = VoltageCorner.MAX_VOLTAGE_CORNER
_TURBO, _TURBO_PLUS = VoltageCorner.TURBO, VoltageCorner.TURBO_PLUS
_NOM, _OFF = VoltageCorner.NOM, VoltageCorner.DISABLE
_SVS2, _SVS, _SVS_PLUS = VoltageCorner.SVS2, VoltageCorner.SVS, VoltageCorner.SVS_PLUS
_HMX_LOW, _HMX_OFF = ExpandedCorner.LOW_SVS_D1, ExpandedCorner.DISABLE
_HIGH, _LOW = ClkPerfMode.HIGH, ClkPerfMode.LOW
_Row = tuple[VoltageCorner, VoltageCorner, ExpandedCorner, ClkPerfMode, VoltageCorner, ClkPerfMode]

# Bus, core, matrix unit and its perf mode, compression engine and its perf mode.
_BALANCED: _Row = (_NOM, _SVS_PLUS, _HMX_OFF, _LOW, _NOM, _HIGH)
_ROWS: dict[str, _Row] = {
    "burst": (_MAX, _MAX, ExpandedCorner.SVS_L1, _HIGH, _TURBO_PLUS, _HIGH),
    "sustained_high_performance": (_TURBO_PLUS, _NOM, _HMX_LOW, _LOW, _NOM, _HIGH),
    "high_performance": (_TURBO, _SVS_PLUS, _HMX_LOW, _LOW, _NOM, _HIGH),
    "balanced": _BALANCED,
    "low_balanced": _BALANCED,
    "high_power_saver": (_NOM, _SVS, _HMX_OFF, _LOW, _SVS_PLUS, _LOW),
    "power_saver": (_SVS_PLUS, _SVS2, _HMX_OFF, _LOW, _SVS, _LOW),
    "low_power_saver": (_SVS2, _OFF, _HMX_OFF, _LOW, _SVS2, _LOW),
    "extreme_power_saver": (_OFF, _OFF, _HMX_OFF, _LOW, _OFF, _LOW),
    "default": _BALANCED,
}


def plain_name(profile: str) -> str:
    """Return the plain profile whose power states, latency, polling and timer an llm_decode profile has."""
    suffix = profile.removeprefix(LLM_DECODE)
    return "balanced" if suffix == "default" else suffix


def llm_decode_votes(profile: str, plain: VoteSet) -> VoteSet:
    """Return the votes of an llm_decode profile, made of those of the plain one.

    Of ``burst`` the DDR performance mode is left out: below V81 it takes the raised votes with it, and a profile can't
    say for which architecture it is.
    """
    bus, core, hmx, hmx_mode, ceng, ceng_mode = _ROWS[profile.removeprefix(LLM_DECODE)]
    hvx = plain.dcvs_v3
    if hvx is None:
        return plain
    return attrs.evolve(
        plain,
        dcvs_v3=attrs.evolve(hvx, bus=VoltageRange.at(bus), core=VoltageRange.at(core)),
        hmx_v2=HmxV2(hmx, hmx, hmx, hmx_mode),
        ceng=Ceng(ceng, ceng, ceng, ceng_mode),
    )

"""SNPE: the YAML of ``--perf_config_yaml``, which has most of a profile's fields, and ``--perf_profile``.

Source of the spellings: SNPE's DlEnums.h, and mlcommons/mobile_app_open SnpeExecutor.h, which uses them, too.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.expressed import lost, nearest
from htppower.profiles.profile import Lowering, Relax
from htppower.profiles.sustain import first_us
from htppower.tools.runtimes.settings import Part, Runtime, Settings
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, DcvsV3Exp, HmxV2, as_plain
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.profiles.profile import Profile

_OF_HMX = (
    *("DISABLE", "MIN", "LOW_SVS_D2", "LOW_SVS_D1", "LOW_SVS", "LOW_SVS_L0", "SVS", "SVS_L0", "SVS_L1", "SVS_L2"),
    *("NOM", "NOM_L1", "NOM_L2", "TUR", "TUR_L1", "TUR_L2", "TUR_L3", "MAX"),
)

CORNERS: Mapping[VoltageCorner, str] = MappingProxyType({each: f"SNPE_{each.enumerator}" for each in VoltageCorner})
HMX_CORNERS: Mapping[ExpandedCorner, str] = MappingProxyType(
    {ExpandedCorner[name]: f"SNPE_{ExpandedCorner[name].enumerator}" for name in _OF_HMX}
)
POWER_MODES: Mapping[PowerMode, str] = MappingProxyType(
    {each: each.enumerator.replace("QNN_HTP_", "SNPE_DSP_") for each in PowerMode}
)
PERF_MODES: Mapping[ClkPerfMode, str] = MappingProxyType(
    {each: f"SNPE_HMX_CLK_PERF_{each.name}" for each in (ClkPerfMode.HIGH, ClkPerfMode.LOW)}
)
KNOWN = (
    "The fields are those of SNPE 2.22 and later, read in public; what SNPE votes without a field of its own was not "
    "measured."
)
FILE = "perf_config.yaml"
SECTIONS = ("init", "execute", "deinit")
LIMITS = ("min", "target", "max")
NO_VOTES = "system_settings"
_PRESETS = (
    *("burst", "sustained_high_performance", "high_performance", "balanced", "low_balanced"),
    *("high_power_saver", "power_saver", "low_power_saver", "extreme_power_saver"),
)


def _write(profile: Profile) -> Settings:
    if not profile.votes or profile.relax is None:
        return Settings((Part("command line", f"--perf_profile={NO_VOTES}", "shell"),), (), KNOWN)
    done = expressed(profile)
    preset = nearest(profile, ("vendor",), only=_PRESETS).mode
    note = "Instead of the file, only by its name: the votes of the preset were not measured."
    parts = (
        Part("--perf_config_yaml", "\n".join(_lines(done)), "yaml", FILE),
        Part("command line", f"--perf_profile={preset}", "shell", note=note),
    )
    return Settings(parts, tuple(lost(profile, done, held=False)), KNOWN)


def expressed(profile: Profile) -> Profile:
    """Return the part of a voting profile that a perf config can express."""
    wanted = profile.relax
    if wanted is None:
        return profile
    polling_us = profile.votes.rpc_polling_time_us
    hmx = profile.votes.hmx_v2
    votes = VoteSet(
        _plain(profile.votes.hvx),
        hmx_v2=hmx if hmx is not None and _has_names(hmx) else None,
        rpc_polling_time_us=polling_us,
    )
    # The HMX vote and polling each have a single value for all phases.
    to, after_deinit_to = (
        attrs.evolve(state, votes=VoteSet(_plain(state.votes.hvx), hmx_v2=votes.hmx_v2, rpc_polling_time_us=polling_us))
        for state in (wanted.to, wanted.after_deinit_to)
    )
    # A learnt time is written as its first value.
    relax = Relax(to, 0, first_us(wanted.after_inference_us), wanted.lowering, after_deinit_to)
    return attrs.evolve(profile, votes=votes, relax=relax)


def _plain(hvx: DcvsV3 | DcvsV3Exp | None) -> DcvsV3 | None:
    """Return an HVX vote as a perf config can state it: in plain corners, without sleep_disable."""
    plain = as_plain(hvx) if isinstance(hvx, DcvsV3Exp) else hvx
    return None if plain is None else attrs.evolve(plain, sleep_disable=None)


def _has_names(hmx: HmxV2) -> bool:
    """Return whether SNPE has names for an explicit HMX vote."""
    corners = (hmx.min, hmx.target, hmx.max)
    return hmx != HMX_DEFAULT and all(each in HMX_CORNERS for each in corners) and hmx.perf_mode in PERF_MODES


def _lines(profile: Profile) -> Iterator[str]:
    relax = profile.relax
    if relax is None:
        return
    yield "general:"
    yield f"  ASYNC_VOTING_ENABLE: {_word(relax.lowering is Lowering.BACKGROUND)}"
    yield f"  DSP_HYSTERESIS_TIME_US: {first_us(relax.after_inference_us)}"
    yield f"  DSP_RPC_POLLING_TIME_US: {profile.votes.rpc_polling_time_us or 0}"
    for section in SECTIONS:
        state = relax.after_deinit_to if section == "deinit" else relax.to
        yield f"{section}:"
        yield from _of_hvx(profile.votes.dcvs_v3, "START")
        yield from _of_hvx(state.votes.dcvs_v3, "DONE")
        if profile.votes.hmx_v2 is not None:
            yield from _of_hmx(profile.votes.hmx_v2)


def _of_hvx(vote: DcvsV3 | None, when: str) -> Iterator[str]:
    if vote is None:
        return
    if vote.dcvs_enable is not None:
        yield f"  DSP_ENABLE_DCVS_{when}: {_word(vote.dcvs_enable)}"
    yield f"  POWERMODE_{when}: {POWER_MODES[vote.power_mode]}"
    if vote.sleep_latency_us is not None:
        yield f"  DSP_SLEEP_LATENCY_{when}_US: {vote.sleep_latency_us}"
    for clock in ("bus", "core"):
        corners = getattr(vote, clock)
        for limit in LIMITS if corners is not None else ():
            yield f"  {clock.upper()}_VOLTAGE_CORNER_{limit.upper()}_{when}: {CORNERS[getattr(corners, limit)]}"


def _of_hmx(vote: HmxV2) -> Iterator[str]:
    for limit in LIMITS:
        yield f"  DSP_HMX_VOLTAGE_CORNER_{limit.upper()}: {HMX_CORNERS[getattr(vote, limit)]}"
    yield f"  DSP_HMX_CLOCK_PERF_MODE: {PERF_MODES[vote.perf_mode]}"


def _word(truth: bool) -> str:
    return "true" if truth else "false"


SNPE = Runtime("SNPE", _write)

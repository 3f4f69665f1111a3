"""SNPE: the YAML of ``--perf_config_yaml``, which has most of a profile's fields, and ``--perf_profile``.

Also MLPerf's mobile app on SNPE: the custom settings of a benchmark.

Source of the spellings: SNPE's DlEnums.h, and mlcommons/mobile_app_open SnpeExecutor.h, which uses them, too.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.expressed import Nearest, lost, nearest
from htppower.profiles.profile import Lowering, Relax
from htppower.profiles.sustain import first_us
from htppower.tools.runtimes.settings import MODES, Part, Runtime, Settings
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, DcvsV3Exp, HmxV2, VoltageRange, as_plain
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
_KNOWN = (
    "The fields are those of SNPE 2.22 and later, read in public; what SNPE votes without a field of its own was not "
    "measured."
)
_KNOWN_MLPERF = (
    "The settings were read in mlcommons/mobile_app_open (SnpeExecutor.cc); SNPE is assumed to vote for a preset like "
    "the vendor's own tools, which were measured."
)
# Any other name is read as burst, and default is read as balanced.
MLPERF_MODES = (*MODES[:-1], "system_settings")
FILE = "perf_config.yaml"
SECTIONS = ("init", "execute", "deinit")
LIMITS = ("min", "target", "max")


def _write(profile: Profile) -> Settings:
    if not profile.votes or profile.relax is None:
        return Settings((Part("command line", "--perf_profile=system_settings", "shell"),), (), _KNOWN)
    done = expressed(profile)
    preset = nearest(profile, ("vendor",), only=MODES).mode
    note = "Instead of the file, only by its name: the votes of the preset were not measured."
    parts = (
        Part("--perf_config_yaml", "\n".join(_lines(done)), "yaml", FILE),
        Part("command line", f"--perf_profile={preset}", "shell", note=note),
    )
    return Settings(parts, tuple(lost(profile, done, held=False)), _KNOWN)


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


def _write_mlperf(profile: Profile) -> Settings:
    """Return a profile as custom settings of a benchmark: the nearest preset, and what overrides parts of it."""
    # Settings for clocks need a preset that votes on clocks.
    found = nearest(profile, ("vendor",), only=MLPERF_MODES if profile.votes.hvx is None else MLPERF_MODES[:-1])
    values, done = _overridden(profile, found)
    text = "\n".join(
        f'custom_setting {{\n  id: "{name}"\n  value: "{value}"\n}}'
        for name, value in {"perf_profile": found.mode, **values}.items()
    )
    note = "In a benchmark_setting; the app ignores ids that it does not know."
    part = Part("custom settings", text, "pbtxt", note=note)
    return Settings((part,), tuple(lost(profile, done, held=False)), _KNOWN_MLPERF)


def _overridden(profile: Profile, found: Nearest) -> tuple[Mapping[str, str], Profile]:
    """Return the settings that override the preset, and the resulting votes."""
    preset = found.record
    dcvs, values = _with_settings(profile.votes.dcvs_v3, preset.votes.dcvs_v3, ("bus", "core"), "start")
    votes = attrs.evolve(preset.votes, dcvs_v3=dcvs)
    hmx = profile.votes.hmx_v2
    if hmx is not None and _has_names(hmx) and hmx.min == hmx.target == hmx.max:
        values |= {"hmx_voltage": HMX_CORNERS[hmx.target], "hmx_clock_perf": PERF_MODES[hmx.perf_mode]}
        votes = attrs.evolve(votes, hmx_v2=hmx)
    relax = preset.relax
    if profile.relax is not None and relax is not None:
        # After a run, only the bus and the sleep latency can be set, never the core.
        lowered = relax.to.votes
        dcvs, after = _with_settings(profile.relax.to.votes.dcvs_v3, lowered.dcvs_v3, ("bus",), "done")
        relax = attrs.evolve(relax, to=attrs.evolve(relax.to, votes=attrs.evolve(lowered, dcvs_v3=dcvs)))
        values |= after
    return values, attrs.evolve(preset, votes=votes, relax=relax)


def _with_settings(
    wanted: DcvsV3 | None, preset: DcvsV3 | None, clocks: tuple[str, ...], when: str
) -> tuple[DcvsV3 | None, dict[str, str]]:
    """Return an HVX vote of a preset with the wanted values that settings can state, and these settings.

    A setting states a single corner for a clock.
    """
    if wanted is None or preset is None:
        return preset, {}
    changed: dict[str, Any] = {}
    values = {}
    for clock in clocks:
        corners: VoltageRange | None = getattr(wanted, clock)
        if corners is not None and corners.min == corners.target == corners.max and corners != getattr(preset, clock):
            changed[clock] = corners
            values[f"{clock}_voltage_{when}"] = CORNERS[corners.target]
    if wanted.sleep_latency_us not in (None, preset.sleep_latency_us):
        changed["sleep_latency_us"] = wanted.sleep_latency_us
        values[f"dsp_{when}_sleep_latency"] = str(wanted.sleep_latency_us)
    return attrs.evolve(preset, **changed), values


SNPE = Runtime("SNPE", _write)
MLPERF = Runtime("MLPerf's mobile app, on SNPE", _write_mlperf)

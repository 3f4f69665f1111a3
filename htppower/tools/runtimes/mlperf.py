"""MLPerf's mobile app on SNPE: the custom settings of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.expressed import Nearest, lost, nearest
from htppower.tools.runtimes.settings import Part, Runtime, Settings
from htppower.tools.runtimes.snpe import CORNERS, HMX_CORNERS, PERF_MODES
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2, VoltageRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

KNOWN = (
    "The settings were read in mlcommons/mobile_app_open (SnpeExecutor.cc); SNPE is assumed to vote for a preset like "
    "the vendor's own tools, which were measured."
)
# Any other name is read as burst, and default is read as balanced.
MODES = (
    *("burst", "sustained_high_performance", "high_performance", "balanced", "low_balanced"),
    *("high_power_saver", "power_saver", "low_power_saver", "system_settings"),
)


def _write(profile: Profile) -> Settings:
    """Return a profile as custom settings: the nearest preset, and settings that override parts of it."""
    # Settings for clocks need a preset that votes on clocks.
    found = nearest(profile, ("vendor",), only=MODES if profile.votes.hvx is None else MODES[:-1])
    values, done = _overridden(profile, found)
    text = "\n".join(
        f'custom_setting {{\n  id: "{name}"\n  value: "{value}"\n}}'
        for name, value in {"perf_profile": found.mode, **values}.items()
    )
    note = "In a benchmark_setting; the app ignores ids that it does not know."
    part = Part("custom settings", text, "pbtxt", note=note)
    return Settings((part,), tuple(lost(profile, done, held=False)), KNOWN)


def _overridden(profile: Profile, found: Nearest) -> tuple[Mapping[str, str], Profile]:
    """Return the settings that override the preset, and the resulting votes."""
    preset = found.record
    values: dict[str, str] = {}
    votes = preset.votes
    if isinstance(profile.votes.dcvs_v3, DcvsV3) and votes.dcvs_v3 is not None:
        raised = dict(_clocks(profile.votes.dcvs_v3, votes.dcvs_v3, ("bus", "core")))
        values |= {f"{clock}_voltage_start": CORNERS[corner.target] for clock, corner in raised.items()}
        dcvs = _with_clocks(votes.dcvs_v3, raised)
        wanted_us = profile.votes.dcvs_v3.sleep_latency_us
        if wanted_us is not None and wanted_us != dcvs.sleep_latency_us:
            values["dsp_start_sleep_latency"] = str(wanted_us)
            dcvs = attrs.evolve(dcvs, sleep_latency_us=wanted_us)
        votes = attrs.evolve(votes, dcvs_v3=dcvs)
    hmx = profile.votes.hmx_v2
    if hmx is not None and _sayable(hmx):
        values |= {"hmx_voltage": HMX_CORNERS[hmx.target], "hmx_clock_perf": PERF_MODES[hmx.perf_mode]}
        votes = attrs.evolve(votes, hmx_v2=hmx)
    done = attrs.evolve(preset, votes=votes)
    if profile.relax is None or preset.relax is None:
        return values, done
    lowered, said = _lowered(profile.relax.to.votes, preset.relax.to.votes)
    relax = attrs.evolve(preset.relax, to=attrs.evolve(preset.relax.to, votes=lowered))
    return {**values, **said}, attrs.evolve(done, relax=relax)


def _lowered(wanted: VoteSet, preset: VoteSet) -> tuple[VoteSet, dict[str, str]]:
    """Return the votes after a run, and the settings for them: bus and sleep latency, never the core."""
    if wanted.dcvs_v3 is None or preset.dcvs_v3 is None:
        return preset, {}
    clocks = dict(_clocks(wanted.dcvs_v3, preset.dcvs_v3, ("bus",)))
    values = {f"{clock}_voltage_done": CORNERS[corner.target] for clock, corner in clocks.items()}
    dcvs = _with_clocks(preset.dcvs_v3, clocks)
    if wanted.dcvs_v3.sleep_latency_us not in (None, dcvs.sleep_latency_us):
        values["dsp_done_sleep_latency"] = str(wanted.dcvs_v3.sleep_latency_us)
        dcvs = attrs.evolve(dcvs, sleep_latency_us=wanted.dcvs_v3.sleep_latency_us)
    return attrs.evolve(preset, dcvs_v3=dcvs), values


def _clocks(wanted: DcvsV3, preset: DcvsV3, clocks: tuple[str, ...]) -> Iterator[tuple[str, VoltageRange]]:
    """Yield the clocks that differ from the preset's and that a single corner can state."""
    for clock in clocks:
        corners: VoltageRange | None = getattr(wanted, clock)
        if corners is not None and corners.min == corners.target == corners.max and corners != getattr(preset, clock):
            yield clock, corners


def _with_clocks(vote: DcvsV3, clocks: Mapping[str, VoltageRange]) -> DcvsV3:
    return attrs.evolve(vote, bus=clocks.get("bus", vote.bus), core=clocks.get("core", vote.core))


def _sayable(hmx: HmxV2) -> bool:
    one = hmx.min == hmx.target == hmx.max
    return hmx != HMX_DEFAULT and one and hmx.target in HMX_CORNERS and hmx.perf_mode in PERF_MODES


MLPERF = Runtime("MLPerf's mobile app, on SNPE", _write)

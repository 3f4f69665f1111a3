"""A profile as options of ONNX Runtime's QNN execution provider, for a host that lets the provider vote."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.hosts.qnn_options import CONTROL_LATENCY, PERFORMANCE_MODE
from htppower.profiles.fields import profile_fields, spell, vote_fields
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import NO_VOTES, Profile
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, VoltageRange
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner, as_expanded
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath


def _mode(
    dcvs_enable: bool,
    corner: VoltageCorner,
    sleep_latency_us: int = 1000,
    power_mode: PowerMode = PowerMode.PERFORMANCE,
    rpc_polling_time_us: int | None = None,
) -> VoteSet:
    clocks = VoltageRange.at(corner)
    dcvs = DcvsV3(dcvs_enable, power_mode, sleep_latency_us, None, bus=clocks, core=clocks)
    return VoteSet(dcvs, rpc_polling_time_us=rpc_polling_time_us)


# What the provider votes for each htp_performance_mode, from highest to lowest. Source: the log of onnxruntime-qnn
# 2.7.0.
MODES: Mapping[str, VoteSet] = MappingProxyType(
    {
        "burst": _mode(False, VoltageCorner.MAX_VOLTAGE_CORNER, 40, rpc_polling_time_us=9999),
        "sustained_high_performance": _mode(False, VoltageCorner.MAX_VOLTAGE_CORNER, 40),
        "high_performance": _mode(False, VoltageCorner.TURBO, 100),
        "balanced": _mode(True, VoltageCorner.NOM_PLUS),
        "low_balanced": _mode(True, VoltageCorner.NOM),
        "high_power_saver": _mode(True, VoltageCorner.SVS_PLUS),
        "power_saver": _mode(True, VoltageCorner.SVS),
        "low_power_saver": _mode(True, VoltageCorner.SVS2),
        "extreme_power_saver": _mode(True, VoltageCorner.DISABLE, power_mode=PowerMode.POWER_SAVER),
        "default": NO_VOTES,
    }
)

_NO_VOTE = "no vote"
_OF_THE_PROCESS = "no vote: it stays as it is in the process"
_HELD = "votes stay up from INIT until the model is released"

# What the provider does about a vote that no mode has, where it is more than that.
_WITHOUT_VOTE: Mapping[KeyPath, str] = MappingProxyType(
    {
        ("votes", "rpc_polling_time_us"): _OF_THE_PROCESS,
        ("votes", "adaptive_polling_time_us"): _OF_THE_PROCESS,
    }
)
# A vote that says what holds on an id without it, so that a mode without it says the same (rules HMX-4, RPC-5).
_AS_WITHOUT_VOTE: Mapping[KeyPath, Any] = MappingProxyType(
    {
        ("votes", "hmx_v2"): HMX_DEFAULT,
        ("votes", "dcvs_v3", "sleep_disable"): False,
        ("votes", "rpc_control_latency_us"): 0,
        ("votes", "ddr_perf_mode"): False,
    }
)
_CORNERS = tuple(VoltageCorner)
_APART = len(_CORNERS) * 3


@attrs.frozen
class Unexpressed:
    """A field of a profile that the provider's options can't express.

    Attributes:
        field: the keys that lead to it in the profile.
        says: what the profile says, as it is spelt in a file.
        instead: what the provider does.
    """

    field: KeyPath
    says: str
    instead: str

    def __str__(self) -> str:
        """Return the field, what the profile says, and what the provider does, as one line."""
        return f"{'.'.join(self.field)}: {self.says}; the provider: {self.instead}"


@attrs.frozen
class ProviderOptions:
    """A profile as options of the QNN execution provider.

    Attributes:
        options: the options, to be given to ONNX Runtime beside others.
        unexpressed: what they can't express, in the order of a file.
    """

    options: dict[str, str] = attrs.field(hash=False)
    unexpressed: tuple[Unexpressed, ...]


def provider_options(profile: str | os.PathLike[str] | Profile) -> ProviderOptions:
    """Return the options under which the QNN execution provider votes most nearly as a profile does.

    For a host in which the controller can't be embedded: with it, the provider must not vote. The mode is the one whose
    clocks are nearest, then the one that differs in the fewest fields, then the one that the profile is named after or
    extends. What a mode votes is that of onnxruntime-qnn 2.7.0, read from its log.

    Args:
        profile: a name, a path or a profile.

    Raises:
        ProfileError: the profile can't be found or is invalid.
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile)
    wanted = profile
    mode = min(MODES, key=lambda name: _distance(wanted, name))
    latency_us = profile.votes.rpc_control_latency_us
    options = {PERFORMANCE_MODE: mode}
    if latency_us:
        options[CONTROL_LATENCY] = str(latency_us)
    return ProviderOptions(options, tuple(_unexpressed(profile, mode)))


def _unexpressed(profile: Profile, mode: str) -> Iterator[Unexpressed]:
    """Yield the fields of a profile that a mode, with the profile's control latency, does not have so."""
    voted = attrs.evolve(MODES[mode], rpc_control_latency_us=profile.votes.rpc_control_latency_us)
    cast = dict(vote_fields(voted))
    said = dict(profile_fields(profile))
    for field in (*said, *(field for field in cast if field not in said)):
        value, instead = said.get(field), cast.get(field)
        if value == instead or (instead is None and value == _AS_WITHOUT_VOTE.get(field)):
            continue
        without = _HELD if field[0] == "relax" else _WITHOUT_VOTE.get(field, _NO_VOTE)
        yield Unexpressed(field, spell(value), without if instead is None else spell(instead))


def _distance(profile: Profile, mode: str) -> tuple[int, ...]:
    """Return how far a mode is from a profile; the order of ``MODES`` decides between equals."""
    lineage = profile.lineage
    named = lineage.index(mode) if mode in lineage else len(lineage)
    return (*_clocks_apart(profile.votes, MODES[mode]), sum(1 for _ in _unexpressed(profile, mode)), named)


def _clocks_apart(one: VoteSet, other: VoteSet) -> Iterator[int]:
    """Yield how many corners lie between the core clocks of two vote sets, then between their bus clocks."""
    for clock in ("core", "bus"):
        ranges = [getattr(votes.hvx, clock, None) for votes in (one, other)]
        if None in ranges:
            yield 0 if ranges == [None, None] else _APART
        else:
            ends = [[_place(getattr(each, limit)) for each in ranges] for limit in ("min", "target", "max")]
            yield sum(abs(first - second) for first, second in ends)


def _place(corner: VoltageCorner | ExpandedCorner) -> int:
    """Return the place of a corner among those of the provider; of an expanded one that of the nearest below it."""
    return sum(as_expanded(each) <= as_expanded(corner) for each in _CORNERS) - 1

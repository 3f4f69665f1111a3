"""Which profile a session uses: its own, that of a hold, or that of a cap.

The vendor orders its profiles from burst to extreme_power_saver. That order is read off the votes here, so that a
user's own profile has its place in it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.corners import EXPANDED_OF_CORE, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoltageRange, VoteSet

_NO_SLEEP_WISH_US = 65535


@attrs.frozen
class Claim:
    """What a hold or a cap asks for.

    Attributes:
        number: one more than the claim before it.
        kind: ``hold`` or ``cap``.
        profile: the profile.
        reason: what it was asked for, as shown in status and events.
        since_us: since when, by the controller's clock.
        until_us: when it ends by itself, or None.
    """

    number: int
    kind: str
    profile: Profile = attrs.field(repr=lambda profile: profile.name)
    reason: str
    since_us: int
    until_us: int | None = None


def in_use(own: Profile, holds: Iterable[Claim], caps: Sequence[Claim]) -> tuple[Profile, Claim | None]:
    """Return the profile that a session uses, and the hold or cap that decides it, or None.

    The hold that is highest in the vendor's order takes the place of the session's own profile, the later one of two
    that are as high. The cap that is lowest in that order takes the place of what goes beyond any cap.
    """
    hold = max(holds, key=lambda claim: (rank(claim.profile), claim.number), default=None)
    chosen, decides = (own, None) if hold is None else (hold.profile, hold)
    if any(exceeds(chosen, cap.profile) for cap in caps):
        decides = min(caps, key=lambda claim: (rank(claim.profile), -claim.number))
        chosen = decides.profile
    return chosen, decides


def rank(profile: Profile) -> tuple[Any, ...]:
    """Return where a profile stands in the vendor's order, greater for higher performance.

    First its clocks: core, bus, then HMX; then how soon the DSP wakes up, polling, and how long votes are sustained. A
    profile without votes is below all others.
    """
    votes, relax = profile.votes, profile.relax
    dcvs = votes.dcvs_v3
    sleep_latency_us = None if dcvs is None else dcvs.sleep_latency_us
    return (
        bool(votes),
        *_clocks(votes),
        -(_NO_SLEEP_WISH_US if sleep_latency_us is None else sleep_latency_us),
        votes.rpc_polling_time_us or 0,
        0 if relax is None else relax.after_inference_us,
    )


def exceeds(profile: Profile, cap: Profile) -> bool:
    """Return whether a profile goes beyond a cap.

    It does in the vendor's order, with any clock, with polling, or by keeping the DSP awake or the DDR fast.
    """
    if rank(profile) > rank(cap):
        return True
    return any(asked > limit for asked, limit in zip(_heat(profile.votes), _heat(cap.votes), strict=True))


def _heat(votes: VoteSet) -> tuple[int, ...]:
    """Return what each vote asks for that costs power by itself."""
    dcvs = votes.dcvs_v3
    awake = dcvs is not None and bool(dcvs.sleep_disable)
    return (*_clocks(votes), votes.rpc_polling_time_us or 0, awake, bool(votes.ddr_perf_mode))


def _clocks(votes: VoteSet) -> tuple[int, ...]:
    """Return what is asked of each clock, and how far up it may go: core, bus, HMX."""
    dcvs, hmx = votes.dcvs_v3, votes.hmx_v2
    core_target, core_max = _corners(None if dcvs is None else dcvs.core)
    bus_target, bus_max = _corners(None if dcvs is None else dcvs.bus)
    if hmx is None or hmx.pick_default:
        hmx_target, hmx_max = EXPANDED_OF_CORE[core_target], EXPANDED_OF_CORE[core_max]
    else:
        hmx_target, hmx_max = hmx.target, hmx.max or hmx.target
    return core_target, bus_target, core_max, bus_max, hmx_target, hmx_max


def _corners(corners: VoltageRange | None) -> tuple[VoltageCorner, VoltageCorner]:
    """Return target and max; a max of DISABLE limits nothing where a target is voted (HAP_power)."""
    if corners is None or corners.target is VoltageCorner.DISABLE:
        return VoltageCorner.DISABLE, VoltageCorner.DISABLE
    unlimited = corners.max is VoltageCorner.DISABLE
    return corners.target, VoltageCorner.MAX_VOLTAGE_CORNER if unlimited else corners.max

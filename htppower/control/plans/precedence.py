"""Which profile a session uses: its own, that of a hold, or that of a cap.

The vendor orders its profiles from burst to extreme_power_saver. That order is read off the votes here, so that a
user's own profile has its place in it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.sustain import longest_us
from htppower.rules import power_order
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.profiles.profile import Profile


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

    __repr__ = field_repr


def in_use(own: Profile, holds: Sequence[Claim], caps: Sequence[Claim]) -> tuple[Profile, Claim | None]:
    """Return the profile that a session uses, and the hold or cap that decides it, or None.

    The hold that is highest in the vendor's order takes the place of the session's own profile, the later one of two
    that are as high. The cap that is lowest in that order takes the place of what goes beyond any cap.
    """
    if not holds and not caps:
        return own, None
    hold = max(holds, key=lambda claim: (rank(claim.profile), claim.number), default=None)
    chosen, decides = (own, None) if hold is None else (hold.profile, hold)
    if any(exceeds(chosen, cap.profile) for cap in caps):
        decides = min(caps, key=lambda claim: (rank(claim.profile), -claim.number))
        chosen = decides.profile
    return chosen, decides


def rank(profile: Profile) -> tuple[Any, ...]:
    """Return where a profile stands in the vendor's order: by its votes, then by how long they are sustained."""
    return (
        *power_order.rank(profile.votes),
        0 if profile.relax is None else longest_us(profile.relax.after_inference_us),
    )


def exceeds(profile: Profile, cap: Profile) -> bool:
    """Return whether a profile goes beyond a cap, in the vendor's order or with any vote that costs power by itself."""
    return rank(profile) > rank(cap) or power_order.exceeds(profile.votes, cap.votes)

"""The profile that a session uses: its own profile, or the profile of a hold, a cap, a pace or a mode.

The vendor orders its profiles from burst to extreme_power_saver. Here the votes of a profile give its place in that
order, so a user's own profile has a place, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs

from htppower.profiles.sustain import longest_us
from htppower.rules import power_order

if TYPE_CHECKING:
    import weakref
    from collections.abc import Sequence

    from htppower.profiles.profile import Profile


@attrs.frozen
class Claim:
    """A hold, a cap, the choice of a pace, or a mode in use.

    Attributes:
        number: the number of the claim, from 1; 0 for a mode.
        kind: ``hold``, ``cap``, ``pace`` or ``mode``.
        profile: the profile that it asks for.
        reason: why it was requested; shown in status and events.
        since_us: when it began, by the controller's clock.
        until_us: when its timeout ends it; None without a timeout.
    """

    number: int
    kind: str
    profile: Profile = attrs.field(repr=lambda profile: profile.name)
    reason: str
    since_us: int
    until_us: int | None = None


class Paces(Protocol):
    """The pace of a session, as those who send its votes see it.

    Attributes:
        claim: its choice as a claim on the session; replaced under the line.
        watch: the weak reference that ends it when its handle is gone.
    """

    claim: Claim | None
    watch: weakref.ref[Any] | None

    @property
    def profile(self) -> Profile:
        """The profile that it has chosen."""

    @property
    def reason(self) -> str:
        """Why it has chosen that profile."""

    def status(self) -> Any:
        """Return its status, as a frozen value."""

    def disown(self) -> None:
        """In a forked child: use no lock of the parent."""


class Modes(Protocol):
    """The modes of a session, as those who send its votes see them."""

    def choose(self) -> Claim | None:
        """Return the mode that counts now; None if the session's own profile counts. The line is held."""


def in_use(
    own: Profile, holds: Sequence[Claim], caps: Sequence[Claim], choice: Claim | None = None
) -> tuple[Profile, Claim | None]:
    """Return the profile that a session uses, and the claim that decides this; None if its own profile is used.

    The choice of a pace, or a mode, replaces the session's own profile. The hold that is highest in the vendor's order
    replaces both; if two are equal, the later one does. If the result goes beyond any cap, the lowest cap replaces it.
    """
    if choice is not None:
        own = choice.profile
    if not holds and not caps:
        return own, choice
    hold = max(holds, key=lambda claim: (rank(claim.profile), claim.number), default=None)
    chosen, decides = (own, choice) if hold is None else (hold.profile, hold)
    if any(exceeds(chosen, cap.profile) for cap in caps):
        decides = min(caps, key=lambda claim: (rank(claim.profile), -claim.number))
        chosen = decides.profile
    return chosen, decides


def rank(profile: Profile) -> tuple[Any, ...]:
    """Return the place of a profile in the vendor's order: by its votes, then by its sustain time."""
    return (
        *power_order.rank(profile.votes),
        0 if profile.relax is None else longest_us(profile.relax.after_inference_us),
    )


def exceeds(profile: Profile, cap: Profile) -> bool:
    """Return whether a profile goes beyond a cap: it is higher in the order, or one of its votes costs more power."""
    return rank(profile) > rank(cap) or power_order.exceeds(profile.votes, cap.votes)

"""The review rules: what no single vote breaks, and a reviewer would still ask about.

Each yields mistakes of one file, seen beside the profiles with which it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.corners import EXPANDED_OF_CORE, VoltageCorner
from htppower.fields import profile_fields, spell
from htppower.mistakes import Mistake
from htppower.profiles import SHIPPED_PROFILES
from htppower.votes import HMX_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.cases import Path
    from htppower.profiles import PowerState, Profile
    from htppower.votes import VoltageRange, VoteSet

_CLOCKS = ("core", "bus")
_TO = ("relax", "to")
_HMX = ("votes", "hmx_v2")


@attrs.frozen(repr=False, eq=False)
class Shelf:
    """The profiles beside which a file is used: those of its folder, and the shipped ones.

    Attributes:
        stated: for every field that some profile states, the name of the first that does.
        table: the profiles of the vendor's table, from highest performance to lowest.
    """

    stated: dict[Path, str]
    table: tuple[Profile, ...]

    @classmethod
    def of(cls, profiles: Iterable[Profile]) -> Shelf:
        """Return the shelf of these profiles; of two with one name the first counts."""
        stated: dict[Path, str] = {}
        named: dict[str, Profile] = {}
        for profile in profiles:
            named.setdefault(profile.name, profile)
            for at, value in profile_fields(profile):
                if value is not None:
                    stated.setdefault(at, profile.name)
        return cls(stated, tuple(named[name] for name in SHIPPED_PROFILES if name in named))

    def above(self, profile: Profile) -> tuple[Profile, ...]:
        """Return the profiles that stand above in the table, nearest first; none for one that is not in it.

        A profile that extends one of the table stands where that one does.
        """
        place = next((SHIPPED_PROFILES.index(name) for name in profile.lineage if name in SHIPPED_PROFILES), 0)
        return tuple(other for other in reversed(self.table) if SHIPPED_PROFILES.index(other.name) < place)


def unstated(profile: Profile, shelf: Shelf) -> Iterator[Mistake]:
    """REV-1; a profile without votes states nothing on purpose."""
    if not profile.votes:
        return
    for at, value in profile_fields(profile):
        if value is None and at in shelf.stated:
            message = f"{profile.name} leaves {at[-1]} unset, which {shelf.stated[at]} states"
            yield Mistake(at, "REV-1", message, "state it in both, or in neither")


def costs_more(profile: Profile, shelf: Shelf) -> Iterator[Mistake]:
    """REV-2; a finding a field, against the nearest profile above that costs less.

    An HMX that follows the core costs with it, and is not told besides.
    """
    above = shelf.above(profile)
    follows = profile.votes.hmx_v2 == HMX_DEFAULT
    for at, value, cost in _costs(profile.votes):
        if follows and at == _HMX:
            continue
        for other in above:
            found = [(theirs, less) for place, theirs, less in _costs(other.votes) if place == at and less < cost]
            if found:
                message = (
                    f"{at[-1]} {spell(value)} costs more than {spell(found[0][0])} of {other.name}, which is above"
                )
                yield Mistake(at, "REV-2", message, f"no more than {other.name}, or extend a higher profile")
                break


def no_way_down(profile: Profile) -> Iterator[Mistake]:
    """REV-3; a profile whose core target is DISABLE has raised nothing."""
    dcvs = profile.votes.dcvs_v3
    if dcvs is None or not dcvs.active or profile.relax is None:
        return
    state = profile.relax.to
    lowered = state.votes.dcvs_v3
    for clock in _CLOCKS:
        raised = getattr(dcvs, clock)
        rests = None if lowered is None else getattr(lowered, clock)
        if raised is None or rests is None or _is_voted(raised) is False or _is_voted(rests) is False:
            continue
        if rests.target >= raised.target:
            message = (
                f"{state.name} does not lower the {clock}: {rests.target.name}, {profile.name} {raised.target.name}"
            )
            yield _of_relaxing(clock, message)


def polling_left_on(state: PowerState) -> Iterator[Mistake]:
    """REV-4."""
    for name in ("rpc_polling_time_us", "adaptive_polling_time_us"):
        value = getattr(state.votes, name)
        if value:
            yield Mistake(("votes", name), "REV-4", f"{state.name} leaves polling on: {name} {value}", f"{name}: 0")


def _of_relaxing(clock: str, message: str) -> Mistake:
    at = ("votes", "dcvs_v3", clock)
    return Mistake(_TO, "REV-3", message, "relax to a power state with a lower target", also=(at,))


def _is_voted(corners: VoltageRange) -> bool:
    return corners.target is not VoltageCorner.DISABLE


def _costs(votes: VoteSet) -> Iterator[tuple[Path, object, int]]:
    """Yield the fields that cost power, with a number that rises with the cost."""
    dcvs = votes.dcvs_v3
    if dcvs is not None:
        for clock in _CLOCKS:
            corners = getattr(dcvs, clock)
            if corners is not None and _is_voted(corners):
                highest = corners.max if dcvs.dcvs_enable else corners.target
                yield ("votes", "dcvs_v3", clock), highest, int(highest)
        if dcvs.sleep_latency_us is not None:
            yield ("votes", "dcvs_v3", "sleep_latency_us"), dcvs.sleep_latency_us, -dcvs.sleep_latency_us
    yield from _hmx_cost(votes)
    if votes.rpc_polling_time_us is not None:
        yield ("votes", "rpc_polling_time_us"), votes.rpc_polling_time_us, votes.rpc_polling_time_us


def _hmx_cost(votes: VoteSet) -> Iterator[tuple[Path, object, int]]:
    """Yield the corner of an HMX vote; that of the default is the one that follows the core's."""
    hmx, dcvs = votes.hmx_v2, votes.dcvs_v3
    if hmx is not None and not hmx.pick_default:
        yield _HMX, hmx.target, int(hmx.target)
    elif dcvs is not None and dcvs.core is not None:
        following = EXPANDED_OF_CORE[dcvs.core.target]
        yield _HMX, following, int(following)

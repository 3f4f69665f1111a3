"""What each profile of a simulation puts in force, and which one a session uses: from the documentation alone.

Sources: ``DESIGN.md`` "Profiles", ``docs/holds.md`` "Which profile is in force", ``docs/state_machine.md`` "Settings of
the whole process". Nothing here knows the controller.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.backends.simulated.clocks import Client, ProcessSettings
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import Lowering, Profile
from htppower.profiles.sustain import first_us

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.votes.vote_set import VoteSet

# What is in force on an id: DCVS, sleep latency, sleep disable, bus, core, explicit HMX corners.
InForce = tuple[bool, int, bool, tuple[int, int, int], tuple[int, int, int], tuple[int, int, int] | None]


@attrs.frozen
class Expected:
    """What a profile comes to.

    Attributes:
        profile: the profile, as the controller is given it.
        rank: its place in the vendor's order; the highest is 0.
        raised, lowered, after_deinit: what is in force on an id after its votes, after those of its power state, and
            after those of the power state in which DE-INIT ends; None for a profile without votes.
        polling_us, latency_us: what it wishes for the process while it is raised; 0 is no wish.
        sustain_us, after_init_us: how long its votes stay up.
    """

    profile: Profile
    rank: int
    raised: InForce | None
    lowered: InForce | None
    after_deinit: InForce | None
    polling_us: int
    latency_us: int
    sustain_us: int
    after_init_us: int


def in_force(client: Client) -> InForce:
    """Return what is in force on an id."""
    return (
        client.dcvs_enable,
        client.sleep_latency_us,
        client.sleep_disable,
        client.bus,
        client.core,
        client.explicit_hmx,
    )


NOTHING = in_force(Client(0, 0))


@functools.cache
def expected() -> dict[str, Expected]:
    """Return the profiles of a simulation by name, from the highest in the vendor's order to the lowest."""
    burst, balanced, high = (load_profile(name) for name in ("burst", "balanced", "high_performance"))
    made = (
        burst,
        _named(burst, "brisk", after_init_us=30_000, after_inference_us=20_000),
        _named(high, "high", lowering=Lowering.BACKGROUND),
        attrs.evolve(
            _named(balanced, "steady", after_inference_us=50_000),
            votes=attrs.evolve(balanced.votes, rpc_polling_time_us=3000, rpc_control_latency_us=50),
        ),
        balanced,
        load_profile("power_saver"),
        load_profile("system_settings"),
    )
    return {profile.name: _expected(profile, rank) for rank, profile in enumerate(made)}


def _named(profile: Profile, name: str, **relax: object) -> Profile:
    assert profile.relax is not None
    return attrs.evolve(profile, name=name, lineage=(name,), relax=attrs.evolve(profile.relax, **relax))  # type: ignore[arg-type]


def _expected(profile: Profile, rank: int) -> Expected:
    relax = profile.relax
    return Expected(
        profile,
        rank,
        _after(profile.votes),
        None if relax is None else _after(relax.to.votes),
        None if relax is None else _after(relax.after_deinit_to.votes),
        profile.votes.rpc_polling_time_us or 0,
        profile.votes.rpc_control_latency_us or 0,
        0 if relax is None else first_us(relax.after_inference_us),
        0 if relax is None else relax.after_init_us,
    )


def _after(votes: VoteSet) -> InForce | None:
    if not votes:
        return None
    client, process = Client(0, 0), ProcessSettings()
    for config in votes.native(1):
        client.apply(config)
        process = process.after(config)
    return in_force(client)


def lowered_to(profiles: Iterable[Expected], *, after_deinit: bool) -> frozenset[InForce]:
    """Return what may be in force on an id that one of these profiles has lowered."""
    found = (each.after_deinit if after_deinit else each.lowered for each in profiles)
    return frozenset({NOTHING, *(each for each in found if each is not None)})


DOWN = frozenset().union(*(lowered_to(expected().values(), after_deinit=after) for after in (False, True)))


def decided(own: str, holds: Iterable[str], caps: Iterable[str]) -> str:
    """Return which profile a session uses: its own, the highest hold's, or, where that exceeds a cap, a cap's."""
    table = expected()
    chosen = min(holds, key=lambda name: table[name].rank, default=own)
    lowest = max(caps, key=lambda name: table[name].rank, default=chosen)
    return lowest if table[chosen].rank < table[lowest].rank else chosen

"""The votes that each profile of a simulation puts in force, and the profile that a session uses.

Sources: ``DESIGN.md`` "Profiles", ``docs/holds.md`` "Which profile is in force", ``docs/state_machine.md`` "Settings of
the whole process". This file knows only the documentation, and nothing of the controller.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.backends.simulated.clocks import Client, ProcessSettings
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import Lowering, PowerState, Profile, Then
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.profiles.sustain import Sustain
    from htppower.votes.vote_set import VoteSet

# The votes in force on an id: DCVS, sleep latency, sleep disable, bus, core, and the explicit HMX corners.
InForce = tuple[bool, int, bool, tuple[int, int, int], tuple[int, int, int], tuple[int, int, int] | None]


@attrs.frozen
class Expected:
    """The effects of a profile.

    Attributes:
        rank: its place in the vendor's order; the highest is 0.
        raised, lowered, after_deinit: the votes on an id after it is raised, relaxed, and relaxed by DE-INIT; None for
            a profile without votes.
        further: the votes of the second power state; None without a second power state.
        polling_us, latency_us: its wishes for the process while it is raised; 0 means no wish.
        least_us, most_us: how long its votes stay up after an inference; both are the same unless this is learnt.
        after_init_us: how long the votes stay up after INIT.
        further_least_us, further_most_us: how long the votes stay in the first power state.
        raise_ahead_us: how long before a predicted begin the votes are raised; 0 for no raise ahead.
    """

    profile: Profile
    rank: int
    raised: InForce | None
    lowered: InForce | None
    after_deinit: InForce | None
    polling_us: int
    latency_us: int
    least_us: int
    most_us: int
    after_init_us: int
    further: InForce | None
    further_least_us: int
    further_most_us: int
    raise_ahead_us: int


def in_force(client: Client) -> InForce:
    """Return the votes in force on an id."""
    return (
        client.dcvs_enable,
        client.sleep_latency_us,
        client.sleep_disable,
        client.bus,
        client.core,
        client.explicit_hmx,
    )


NOTHING = in_force(Client(0, 0))


# The profiles that have only fixed times, and one power state.
PLAIN = ("burst", "brisk", "high", "steady", "balanced", "power_saver", "system_settings")
# The profiles with learnt times, raises ahead or two power states.
ADAPTIVE = ("apt", "early", "deep", "thrifty")
BREAK_EVEN_US = 60_000
_LEARNT = Adaptive(break_even_us=BREAK_EVEN_US, least_us=20_000)
_SHARED = Adaptive(cold_starts_ppm=200_000, least_us=0, most_us=400_000)
_LEARNT_FURTHER = Adaptive(break_even_us=100_000, least_us=30_000, most_us=150_000)


@functools.cache
def expected() -> dict[str, Expected]:
    """Return the profiles of a simulation by name, from the highest in the vendor's order to the lowest."""
    burst, balanced, high = (load_profile(name) for name in ("burst", "balanced", "high_performance"))
    # No other state has the same votes as the second one, so that it is recognised.
    released = _released()
    deeper = PowerState("deeper", "A state of its own.", released)
    made = (
        burst,
        _named(burst, "apt", after_inference_us=_LEARNT, raise_ahead_us=5_000),
        _named(burst, "brisk", after_init_us=30_000, after_inference_us=20_000),
        _named(burst, "early", after_init_us=0, after_inference_us=0, raise_ahead_us=3_000),
        _named(high, "deep", after_inference_us=20_000, then=Then(deeper, 50_000)),
        _named(high, "high", lowering=Lowering.BACKGROUND),
        attrs.evolve(
            _named(balanced, "steady", after_inference_us=50_000),
            votes=attrs.evolve(balanced.votes, rpc_polling_time_us=3000, rpc_control_latency_us=50),
        ),
        _named(
            balanced, "thrifty", after_inference_us=_SHARED, then=Then(deeper, _LEARNT_FURTHER), raise_ahead_us=2_000
        ),
        balanced,
        load_profile("power_saver"),
        load_profile("system_settings"),
    )
    return {profile.name: _expected(profile, rank) for rank, profile in enumerate(made)}


def _released() -> VoteSet:
    """Return the votes of the released state, without the sleep latency."""
    relax = load_profile("power_saver").relax
    assert relax is not None
    assert relax.to.votes.dcvs_v3 is not None
    return attrs.evolve(relax.to.votes, dcvs_v3=attrs.evolve(relax.to.votes.dcvs_v3, sleep_latency_us=60_000))


def _named(profile: Profile, name: str, **relax: object) -> Profile:
    assert profile.relax is not None
    return attrs.evolve(profile, name=name, lineage=(name,), relax=attrs.evolve(profile.relax, **relax))  # type: ignore[arg-type]


def _expected(profile: Profile, rank: int) -> Expected:
    relax = profile.relax
    then = None if relax is None else relax.then
    return Expected(
        profile,
        rank,
        _after(profile.votes),
        None if relax is None else _after(relax.to.votes),
        None if relax is None else _after(relax.after_deinit_to.votes),
        profile.votes.rpc_polling_time_us or 0,
        profile.votes.rpc_control_latency_us or 0,
        *_limits_us(None if relax is None else relax.after_inference_us),
        0 if relax is None else relax.after_init_us,
        None if then is None else _after(then.to.votes),
        *_limits_us(None if then is None else then.after_us),
        0 if relax is None else relax.raise_ahead_us,
    )


def _limits_us(sustain: Sustain | None) -> tuple[int, int]:
    """Return how short and how long a sustain time may be."""
    if isinstance(sustain, Adaptive):
        return sustain.least_us, sustain.most_us
    return sustain or 0, sustain or 0


def _after(votes: VoteSet) -> InForce | None:
    if not votes:
        return None
    client, process = Client(0, 0), ProcessSettings()
    for config in votes.native(1):
        client.apply(config)
        process = process.after(config)
    return in_force(client)


def lowered_to(profiles: Iterable[Expected], *, after_deinit: bool) -> frozenset[InForce]:
    """Return the votes that may be in force on an id after one of these profiles has lowered it."""
    found = [
        votes for each in profiles for votes in ((each.after_deinit,) if after_deinit else (each.lowered, each.further))
    ]
    return frozenset({NOTHING, *(votes for votes in found if votes is not None)})


DOWN = frozenset().union(*(lowered_to(expected().values(), after_deinit=after) for after in (False, True)))


def decided(own: str, holds: Iterable[str], caps: Iterable[str]) -> str:
    """Return the profile that a session uses: its own, the highest hold's, or a cap's if that is lower."""
    table = expected()
    chosen = min(holds, key=lambda name: table[name].rank, default=own)
    lowest = max(caps, key=lambda name: table[name].rank, default=chosen)
    return lowest if table[chosen].rank < table[lowest].rank else chosen

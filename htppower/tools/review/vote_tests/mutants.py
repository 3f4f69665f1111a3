"""A profile or power state with one field changed. A test that checks the field must notice the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.profile import PowerState, Profile, Relax
from htppower.profiles.sustain import Adaptive
from htppower.votes.clock_votes import HMX_DEFAULT, HVX_REMOVED, VoltageRange
from htppower.votes.corners import ClkPerfMode, PowerMode, VoltageCorner
from htppower.votes.options import BY_CLASS, BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath

_SVS = VoltageRange.at(VoltageCorner.SVS)
_LOW = attrs.evolve(HVX_REMOVED, sleep_disable=None, core=_SVS, bus=_SVS)
# Values to try for the fields of an HVX vote that are not clocks.
_OF_HVX: Mapping[str, tuple[Any, ...]] = {
    "dcvs_enable": (True, False),
    "power_mode": (PowerMode.PERFORMANCE, PowerMode.POWER_SAVER),
    "sleep_latency_us": (777, 7777),
    "sleep_disable": (False, None),
    "core_perf_mode": (ClkPerfMode.HIGH, ClkPerfMode.LOW),
    "bus_perf_mode": (ClkPerfMode.HIGH, ClkPerfMode.LOW),
}
# Power states to relax to instead. The last clears a sleep_disable (rule DCVS-4).
_STATES = tuple(
    PowerState("another", "", VoteSet(hvx, HMX_DEFAULT, rpc_polling_time_us=0))
    for hvx in (_LOW, attrs.evolve(HVX_REMOVED, sleep_disable=None), HVX_REMOVED)
)


def profile_mutants(profile: Profile, at: KeyPath) -> Iterator[Profile]:
    """Yield the profile with another value in one field of ``profile_fields``, except ``relax.lowering``.

    A rule may refuse the changed profile when it is used.
    """
    relax = profile.relax
    if at[0] == "votes" and len(at) > 1:
        for votes in _other_votes(profile.votes, at[1:]):
            yield attrs.evolve(profile, votes=votes)
    elif relax is None:
        # A profile without votes has nothing to relax to, so both change together.
        for state in _STATES:
            yield attrs.evolve(profile, votes=VoteSet(dcvs_v3=_LOW), relax=Relax(state, 0, 0))
    elif at[0] == "relax":
        holder: Any = relax.then if at[1] == "then" else relax
        for value in _others(getattr(holder, at[-1])):
            changed = attrs.evolve(holder, **{at[-1]: value})
            yield attrs.evolve(profile, relax=changed if holder is relax else attrs.evolve(relax, then=changed))


def state_mutants(state: PowerState, at: KeyPath) -> Iterator[PowerState]:
    """Yield the power state with another value in one field. A rule may refuse it when it is used."""
    votes = _other_votes(state.votes, at[1:]) if len(at) > 1 else [VoteSet(dcvs_v3=HVX_REMOVED)]
    for other in votes:
        # A power state resets the votes that it leaves unset, so stating the reset changes nothing.
        same = (
            {getattr(state.votes, about.field), getattr(other, about.field)} == {None, about.taken_back}
            for about in BY_CLASS.values()
            if not about.partial
        )
        if not any(same):
            yield attrs.evolve(state, votes=other)


def _others(value: Any) -> Iterator[Any]:
    """Yield other values of a field of ``relax``: power states with other votes, or other times.

    For a time, yield a later time, an earlier time and 0. For a learnt time, yield its first value as a fixed time, and
    0.
    """
    if isinstance(value, PowerState):
        yield from (state for state in _STATES if state.votes != value.votes)
    elif isinstance(value, Adaptive):
        yield value.first_us
        if value.first_us:
            yield 0
        if value.break_even_us is not None:
            yield attrs.evolve(value, break_even_us=2 * value.break_even_us)
    else:
        yield from (value + 1, *sorted({value - 1, 0} if value else ()))


def _other_votes(votes: VoteSet, at: KeyPath) -> Iterator[VoteSet]:
    own: Any = votes if len(at) == 1 else getattr(votes, at[0])
    for value in values_to_try(*at):
        if value != getattr(own, at[-1]):
            changed = attrs.evolve(own, **{at[-1]: value})
            yield changed if len(at) == 1 else attrs.evolve(votes, **{at[0]: changed})


def values_to_try(field: str, part: str = "") -> tuple[Any, ...]:
    """Return values to try for a vote, or for a part of an HVX vote; None is unset.

    One of them differs from the own value and breaks no rule with the other fields. Most fields need only the first
    two.
    """
    about = BY_FIELD[field]
    removed: Any = about.taken_back
    if about.partial:
        corners: Any = type(removed.core.target)
        lowest, middle, highest = map(type(removed.core).at, (corners["SVS"], corners["NOM"], max(corners)))
        if part:
            return _OF_HVX.get(part, (lowest, middle, highest))
        return attrs.evolve(removed, sleep_disable=None, core=lowest, bus=lowest), removed
    if about.fields:
        corners = type(removed.target)
        raised = attrs.evolve(removed, min=corners["SVS"], target=corners["NOM"], max=corners["NOM"])
        return attrs.evolve(raised, pick_default=False) if about.default else raised, removed, None
    if about.limits is None:
        return False, True, None
    numbers = (min(about.limits.low + some, about.limits.high) for some in (77, 177))
    # Without the option that it needs, a rule refuses any number above 0.
    return (*numbers, removed, None) if about.needs else tuple(numbers)

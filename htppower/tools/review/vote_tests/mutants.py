"""A profile or power state with one field changed. A test that checks the field must notice the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.profile import PowerState, Profile, Relax
from htppower.profiles.sustain import Adaptive
from htppower.votes.clock_votes import (
    CENG_DEFAULT,
    CENG_EXP_DEFAULT,
    HMX_DEFAULT,
    HVX_EXP_REMOVED,
    HVX_REMOVED,
    Ceng,
    CengExp,
    ExpandedRange,
    HmxV2,
    VoltageRange,
)
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.options import BY_CLASS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath

_SVS, _NOM = VoltageRange.at(VoltageCorner.SVS), VoltageRange.at(VoltageCorner.NOM)
_MAX = VoltageRange.at(VoltageCorner.MAX_VOLTAGE_CORNER)
_HMX = HmxV2(ExpandedCorner.NOM, ExpandedCorner.TUR, ExpandedCorner.TUR, ClkPerfMode.HIGH)
_LOW = attrs.evolve(HVX_REMOVED, sleep_disable=None, core=_SVS, bus=_SVS)

_EXP_SVS, _EXP_NOM = ExpandedRange.at(ExpandedCorner.SVS), ExpandedRange.at(ExpandedCorner.NOM)
_EXP_MAX = ExpandedRange.at(ExpandedCorner.MAX)
_EXP_LOW = attrs.evolve(HVX_EXP_REMOVED, sleep_disable=None, core=_EXP_SVS, bus=_EXP_SVS)
_CENG = Ceng(VoltageCorner.SVS, VoltageCorner.NOM, VoltageCorner.NOM, ClkPerfMode.HIGH)
_CENG_EXP = CengExp(ExpandedCorner.SVS, ExpandedCorner.NOM, ExpandedCorner.NOM, ClkPerfMode.HIGH)

# Values to try for each field. One of them differs from the field's own value and breaks no rule with the other fields;
# None is unset. Most fields need only the first two.
_OF_HVX: Mapping[str, tuple[Any, ...]] = {
    "dcvs_enable": (True, False),
    "power_mode": (PowerMode.PERFORMANCE, PowerMode.POWER_SAVER),
    "sleep_latency_us": (777, 7777),
    "sleep_disable": (False, None),
    "core_perf_mode": (ClkPerfMode.HIGH, ClkPerfMode.LOW),
    "bus_perf_mode": (ClkPerfMode.HIGH, ClkPerfMode.LOW),
}
_VALUES: Mapping[KeyPath, tuple[Any, ...]] = {
    ("dcvs_v3",): (_LOW, HVX_REMOVED),
    ("dcvs_v3", "bus"): (_SVS, _NOM, _MAX),
    ("dcvs_v3", "core"): (_SVS, _NOM),
    ("dcvs_v3_exp",): (_EXP_LOW, HVX_EXP_REMOVED),
    ("dcvs_v3_exp", "bus"): (_EXP_SVS, _EXP_NOM, _EXP_MAX),
    ("dcvs_v3_exp", "core"): (_EXP_SVS, _EXP_NOM),
    **{
        (about.field, field.name): _OF_HVX[field.name]
        for about in BY_CLASS.values()
        for field in about.fields
        if about.partial and field.name in _OF_HVX
    },
    ("hmx_v2",): (_HMX, HMX_DEFAULT, None),
    ("ceng",): (_CENG, CENG_DEFAULT, None),
    ("ceng_exp",): (_CENG_EXP, CENG_EXP_DEFAULT, None),
    ("rpc_control_latency_us",): (77, 177),
    ("rpc_polling_time_us",): (777, 7777),
    ("adaptive_polling_time_us",): (7777, 0, None),
    ("hmx_timeout_us",): (77_777, 177_777),
    ("ddr_perf_mode",): (False, True, None),
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
        # A state takes back the votes that it leaves unset, so stating that changes nothing.
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
    for value in _VALUES[at]:
        if value != getattr(own, at[-1]):
            changed = attrs.evolve(own, **{at[-1]: value})
            yield changed if len(at) == 1 else attrs.evolve(votes, **{at[0]: changed})

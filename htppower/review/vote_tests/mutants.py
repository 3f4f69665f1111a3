"""A profile or power state with one field changed: what a test that looks at the field must notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.profile import PowerState, Profile, Relax
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

# For each field values that differ, so that one of them is another than the field's own and breaks no rule beside the
# others; None is unset. Most fields need only the first two.
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
# What a profile may relax to instead; the last clears a sleep_disable (rule DCVS-4).
_STATES = tuple(
    PowerState("another", "", VoteSet(hvx, HMX_DEFAULT, rpc_polling_time_us=0))
    for hvx in (_LOW, attrs.evolve(HVX_REMOVED, sleep_disable=None), HVX_REMOVED)
)


def profile_mutants(profile: Profile, at: KeyPath) -> Iterator[Profile]:
    """Yield the profile with another value in one field of ``profile_fields``, except ``relax.lowering``.

    A rule may refuse it when it is used.
    """
    relax = profile.relax
    if at[0] == "votes" and len(at) > 1:
        for votes in _other_votes(profile.votes, at[1:]):
            yield attrs.evolve(profile, votes=votes)
    elif relax is None:
        # No votes, and so nothing to relax to: one goes with the other.
        for state in _STATES:
            yield attrs.evolve(profile, votes=VoteSet(dcvs_v3=_LOW), relax=Relax(state, 0, 0))
    elif at[-1] in ("to", "after_deinit_to"):
        for state in _STATES:
            if state.votes != getattr(relax, at[-1]).votes:
                yield relaxing_to(profile, state, at)
    elif at[0] == "relax":
        for time_us in _other_times(getattr(relax, at[1])):
            changed: dict[str, Any] = {at[1]: time_us}
            yield attrs.evolve(profile, relax=attrs.evolve(relax, **changed))


def state_mutants(state: PowerState, at: KeyPath) -> Iterator[PowerState]:
    """Yield the power state with another value in one field; a rule may refuse it when it is used."""
    votes = _other_votes(state.votes, at[1:]) if len(at) > 1 else [VoteSet(dcvs_v3=HVX_REMOVED)]
    for other in votes:
        # A state takes back what it leaves unset, so stating that changes nothing.
        same = (
            {getattr(state.votes, about.field), getattr(other, about.field)} == {None, about.taken_back}
            for about in BY_CLASS.values()
            if not about.partial
        )
        if not any(same):
            yield attrs.evolve(state, votes=other)


def relaxing_to(profile: Profile, state: PowerState, at: KeyPath) -> Profile:
    """Return the profile with this power state in the field of ``relax`` to which the keys lead, if it has one."""
    changed: dict[str, Any] = {at[-1]: state}
    return profile if profile.relax is None else attrs.evolve(profile, relax=attrs.evolve(profile.relax, **changed))


def _other_times(time_us: int) -> tuple[int, ...]:
    """Return a time that is later, one that is earlier, and at once."""
    return (time_us + 1, *sorted({time_us - 1, 0} if time_us else ()))


def _other_votes(votes: VoteSet, at: KeyPath) -> Iterator[VoteSet]:
    own: Any = votes if len(at) == 1 else getattr(votes, at[0])
    for value in _VALUES[at]:
        if value != getattr(own, at[-1]):
            changed = attrs.evolve(own, **{at[-1]: value})
            yield changed if len(at) == 1 else attrs.evolve(votes, **{at[0]: changed})

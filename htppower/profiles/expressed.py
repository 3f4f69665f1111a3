"""Finds the mode of a runtime that is nearest to a profile, and the fields of the profile that it loses."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import HtpPowerError, Severity
from htppower.profiles.fields import CORNER_KEYS, CPU_LATENCY, profile_fields, spell, vote_fields
from htppower.profiles.loading import load_records
from htppower.profiles.names import own_name
from htppower.profiles.profile import is_held
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.corners import ExpandedCorner, VoltageCorner, as_expanded
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

_NO_VOTE = "no vote"
_OF_THE_PROCESS = "no vote: it stays as it is in the process"
_HELD = "votes stay up from INIT until the model is released"

_PROCESS_WIDE = tuple(about for about in VOTE_OPTIONS.values() if about.process_wide)
# What a runtime does instead of a vote that it does not send, if that needs an explanation.
_WITHOUT_VOTE: Mapping[KeyPath, str] = MappingProxyType(
    {("votes", about.field): _OF_THE_PROCESS for about in _PROCESS_WIDE if about.taken_back is not None}
)
# Votes that equal the state without a vote, so that omitting them changes nothing (rules HMX-4, RPC-5).
_AS_WITHOUT_VOTE: Mapping[KeyPath, Any] = MappingProxyType(
    {
        ("votes", "hmx_v2"): HMX_DEFAULT,
        ("votes", "dcvs_v3", "sleep_disable"): False,
        ("votes", "ddr_perf_mode"): False,
        **{("votes", about.field): 0 for about in _PROCESS_WIDE if about.taken_back is None},
    }
)
_CORNERS = tuple(VoltageCorner)
# The power states of a profile, and the names of their fields in messages.
_SIDES = {"to": "lowered", "after_deinit_to": "after_deinit"}
# What other runtimes do instead of fields of relax that they all lack.
_NEVER_DONE: Mapping[str, str] = MappingProxyType(
    {"then": "it relaxes once", "raise_ahead_us": "it raises as an inference begins"}
)


@attrs.frozen
class Lost:
    """A field of a profile that another format can't express, or expresses differently.

    Attributes:
        field: the keys of the field in the profile. A field of a power state comes after the field that names the
            state; in the settings of a runtime, after ``lowered``, or ``after_deinit`` for the state after DE-INIT.
        says: the profile's value, in the spelling of a file.
        instead: what happens instead.
        severity: a warning if other votes are sent; a note if that makes no difference.
        by: who does that, such as ``the runtime``; empty if ``instead`` says so.
    """

    field: KeyPath
    says: str
    instead: str
    severity: Severity = Severity.WARNING
    by: str = ""

    def __str__(self) -> str:
        """Return the field, the profile's value, and what happens instead, as one line."""
        by = f"{self.by}: " if self.by else ""
        return f"{'.'.join(self.field)}: {self.says}; {by}{self.instead}"


@functools.cache
def records(runtime: str) -> Mapping[str, Profile]:
    """Return the shipped records of a runtime's votes by mode, from highest to lowest."""
    found, _ = load_records(runtime=runtime)
    return MappingProxyType({own_name(record.name): record for record in found})


@attrs.frozen
class Nearest:
    """The mode of a runtime that is nearest to a profile.

    Attributes:
        mode: its name.
        record: the runtime's votes in this mode, with votes from additional settings.
        held: the runtime lowers nothing before the model is released.
        lost: the fields of the profile that the mode does not express.
    """

    mode: str
    record: Profile
    held: bool
    lost: tuple[Lost, ...]


def nearest(
    profile: Profile, runtimes: Collection[str], besides: Collection[str] = (), *, only: Collection[str] = ()
) -> Nearest:
    """Return the mode with the nearest clocks; then with the fewest lost fields; then of the profile's lineage.

    Of equal modes, the first is returned.

    Args:
        profile: the profile to be expressed.
        runtimes: the runtimes whose modes are considered.
        besides: the votes that the runtime accepts as additional settings, by their fields in ``VoteSet``.
        only: the modes that are considered; empty for all.

    Raises:
        HtpPowerError: none of the modes has a record.
    """
    found = []
    for runtime in runtimes:
        for mode, record in records(runtime).items():
            if only and mode not in only:
                continue
            votes = attrs.evolve(record.votes, **{name: getattr(profile.votes, name) for name in besides})
            expressed = attrs.evolve(record, votes=votes)
            held = is_held(record)
            found.append(Nearest(mode, expressed, held, tuple(lost(profile, expressed, held=held))))
    if not found:
        folders = " or ".join(f"profiles/runtimes/{runtime}" for runtime in runtimes)
        which = f" of a mode among {', '.join(only)}" if only else ""
        raise HtpPowerError(
            f"no valid record{which} in {folders}; write a record of each mode there, and check it with htppower lint"
        )
    return min(found, key=lambda each: _distance(profile, each))


def lost(profile: Profile, expressed: Profile, *, held: bool) -> Iterator[Lost]:
    """Yield the fields of a profile that differ from what a runtime does.

    Args:
        profile: the profile to be expressed.
        expressed: what the runtime does.
        held: the runtime lowers nothing before the model is released.
    """
    yield from _votes_lost(("votes",), profile.votes, expressed.votes, _NO_VOTE)
    yield from _cpus_lost(profile)
    wanted, done = profile.relax, expressed.relax
    if wanted is None:
        if done is not None and done.to.votes and not held:
            yield _lost(("relax",), "unset", f"lowers the core to {_spell_core(done.to.votes)}")
        return
    fields = [(at, value) for at, value in profile_fields(profile) if at[0] == "relax" and at[1:]]
    if held and is_held(profile):
        return
    if done is None or held:
        yield from (_lost(at, spell(value), _HELD) for at, value in fields)
        return
    for name, side in _SIDES.items():
        states = getattr(wanted, name), getattr(done, name)
        # The state after DE-INIT is reported only if it differs from the state that is reported already.
        if name != "to" and states == (wanted.to, done.to):
            continue
        left = _with_what_stays(states[1].votes, expressed.votes)
        yield from _votes_lost((side,), states[0].votes, left, "no vote: it stays as it was raised")
    for at, value in fields:
        if at[1] in _NEVER_DONE:
            yield _lost(at, spell(value), _NEVER_DONE[at[1]])
            continue
        instead = getattr(done, at[1])
        if at[1] not in _SIDES and value != getattr(instead, "value", instead):
            yield _lost(at, spell(value), spell(getattr(instead, "value", instead)))


def _cpus_lost(profile: Profile) -> Iterator[Lost]:
    if profile.cpu_latency_us is not None:
        yield _lost(CPU_LATENCY, spell(profile.cpu_latency_us), "makes no request for the CPUs")


def _lost(at: KeyPath, says: str, instead: str) -> Lost:
    return Lost(at, says, instead, by="the runtime")


def _with_what_stays(lowered: VoteSet, raised: VoteSet) -> VoteSet:
    """Return the votes of a power state, with the raised values of process-wide settings that it leaves unset."""
    stays = {name: getattr(raised, name) for _, name in _WITHOUT_VOTE if getattr(lowered, name) is None}
    return attrs.evolve(lowered, **stays)


def _spell_core(votes: VoteSet) -> str:
    return spell(None if votes.hvx is None else votes.hvx.core)


def _votes_lost(side: KeyPath, wanted: VoteSet, done: VoteSet, without: str) -> Iterator[Lost]:
    """Yield the fields of one vote set that differ in another."""
    said, cast = dict(vote_fields(wanted)), dict(vote_fields(done))
    for at in (*said, *(at for at in cast if at not in said)):
        value, instead = said.get(at), cast.get(at)
        if value == instead or (instead is None and value == _AS_WITHOUT_VOTE.get(at)):
            continue
        if value is None and at in _AS_WITHOUT_VOTE and instead == _AS_WITHOUT_VOTE[at]:
            continue
        unvoted = _WITHOUT_VOTE.get(at, without)
        yield _lost((*side, *at[1:]), spell(value), unvoted if instead is None else spell(instead))


def _distance(profile: Profile, found: Nearest) -> tuple[int, ...]:
    lineage = profile.lineage
    named = lineage.index(found.mode) if found.mode in lineage else len(lineage)
    # Holding votes that should be lowered costs more than any single field.
    holds = found.held and not is_held(profile)
    return (*_clocks_apart(profile.votes, found.record.votes), holds, len(found.lost), named)


def _clocks_apart(one: VoteSet, other: VoteSet) -> Iterator[int]:
    """Yield the number of corners between the core clocks of two vote sets, then between their bus clocks."""
    for clock in ("core", "bus"):
        ranges = [getattr(votes.hvx, clock, None) for votes in (one, other)]
        if None in ranges:
            # A missing vote is as far from a low corner as from a high one.
            yield sum(1 + _place(getattr(each, limit)) for each in ranges if each is not None for limit in CORNER_KEYS)
        else:
            ends = [[_place(getattr(each, limit)) for each in ranges] for limit in CORNER_KEYS]
            yield sum(abs(first - second) for first, second in ends)


def _place(corner: VoltageCorner | ExpandedCorner) -> int:
    """Return the place of a corner among the plain ones; for an expanded corner, of the nearest one below it."""
    return sum(as_expanded(each) <= as_expanded(corner) for each in _CORNERS) - 1

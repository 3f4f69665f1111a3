"""The review rules: faults that no single vote shows, and that a reviewer would ask about.

Each rule yields findings of one file, compared with the profiles that are used with it.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.errors import Finding
from htppower.profiles.discovery import shown_path
from htppower.profiles.field_limits import is_name
from htppower.profiles.fields import profile_fields, spell, value_at
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES, own_name
from htppower.profiles.paths import stem_of
from htppower.profiles.profile import NO_VOTES, power_states
from htppower.profiles.sustain import LONGEST_SUSTAIN_US
from htppower.rules.power_order import ceng_cost, clock_cost, costs, hmx_cost
from htppower.tools.review.file_kinds import Kind
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.review.file_selection import Source
    from htppower.votes.vote_set import VoteSet

# Thirty times the vendor's sustain time. The time between inferences does not justify more.
LONGEST_USUAL_SUSTAIN_US = 10_000_000
_HMX = ("votes", "hmx_v2")
# Voting a switch off costs a call that most platforms refuse. A vote that it is on is taken back anyway.
_SWITCHES = frozenset(("votes", about.field) for about in VOTE_OPTIONS.values() if about.taken_back is False)
_CENG = ("votes", "ceng")
_ADAPTIVE = ("votes", "adaptive_polling_time_us")


class Shelf(NamedTuple):
    """The profiles to compare a file with: the shipped ones, and all in its folder.

    The vendor has two tables of profiles. A profile is compared with the table of the profile that it extends.

    Attributes:
        table: the names in the table.
        stated: the first profile in the table that states each field.
        profiles: the profiles of the table, from highest performance to lowest.
    """

    table: tuple[str, ...]
    stated: Mapping[KeyPath, str]
    profiles: tuple[Profile, ...]

    @classmethod
    def of(cls, table: tuple[str, ...], profiles: Iterable[Profile]) -> Shelf:
        """Return the shelf of a table from these profiles. If two have the same name, the first counts."""
        stated: dict[KeyPath, str] = {}
        named: dict[str, Profile] = {}
        for profile in profiles:
            named.setdefault(profile.name, profile)
            for at, value in profile_fields(profile) if table_of(profile) == table else ():
                # A profile that states a part of a mapping states the mapping.
                for length in range(2, len(at) + 1) if value is not None else ():
                    stated.setdefault(at[:length], profile.name)
        return cls(table, stated, tuple(named[name] for name in table if name in named))

    def above(self, profile: Profile) -> tuple[Profile, ...]:
        """Return the profiles that are above in the table, nearest first; none for a profile that is not in it.

        A profile that extends one of the table has the place of that one.
        """
        place = next((self.table.index(name) for name in profile.lineage if name in self.table), 0)
        return tuple(other for other in reversed(self.profiles) if self.table.index(other.name) < place)


def table_of(profile: Profile) -> tuple[str, ...]:
    """Return the names of the vendor's table that a profile belongs to: the first if it extends none of either."""
    return LLM_DECODE_PROFILES if set(profile.lineage) & set(LLM_DECODE_PROFILES) else SHIPPED_PROFILES


def unstated(profile: Profile, shelf: Shelf) -> Iterator[Finding]:
    """REV-1. A profile without votes states nothing on purpose, and a switch that is off need not be stated."""
    if not profile.votes:
        return
    stated = shelf.stated
    for at, value in profile_fields(profile):
        if value is None and at in stated and at not in _SWITCHES and _written(profile.votes, at) == at:
            message = f"{profile.name} leaves {at[-1]} unset, which {stated[at]} states"
            yield Finding("REV-1", at, message, "state it in both, or in neither")


def costs_more(profile: Profile, shelf: Shelf) -> Iterator[Finding]:
    """REV-2: a finding for each field, against the nearest profile above that costs less.

    If HMX follows the core, its cost is part of the core's and not reported again. Adaptive polling is not compared
    with a profile that does not poll.
    """
    above = [(other, _costs(other.votes)) for other in shelf.above(profile) if other.votes]
    follows = profile.votes.hmx_v2 in (None, HMX_DEFAULT)
    for at, cost in _costs(profile.votes).items():
        if follows and at == _HMX:
            continue
        for other, theirs in above:
            if theirs[at] < cost and (at != _ADAPTIVE or theirs[at]):
                ours, less = (spell(_value(votes, at)) for votes in (profile.votes, other.votes))
                message = f"{at[-1]} {ours} costs more than {less} of {other.name}, which is above"
                hint = f"no more than {other.name}, or extend a higher profile"
                yield Finding("REV-2", _written(profile.votes, at), message, hint)
                break


# Each profile is compared with all profiles above it.
@functools.lru_cache(maxsize=64)
def _costs(votes: VoteSet) -> Mapping[KeyPath, Any]:
    return dict(costs(votes))


def no_way_down(profile: Profile) -> Iterator[Finding]:
    """REV-3. A profile whose core target is DISABLE has raised nothing."""
    hvx = profile.votes.hvx
    if hvx is None or not hvx.active:
        return
    for at, state in power_states(profile):
        for message in (*_clocks_up(profile, state), *_others_up(profile, state)):
            yield Finding("REV-3", at, message, f"{at[-1]}: a power state that lowers it")


def stays_up(profile: Profile) -> Iterator[Finding]:
    """REV-8: votes stay up for too long."""
    case = profile.case()
    for stay in filter(None, (case.after_init, case.after_inference)):
        # A longer time than a field takes is an error of its own.
        if LONGEST_USUAL_SUSTAIN_US < stay.most_us <= LONGEST_SUSTAIN_US:
            at = (*stay.at, "adaptive", "most_us") if stay.is_learnt else stay.at
            up_to = "up to " if stay.is_learnt else ""
            message = f"votes stay up for {up_to}{stay.most_us / 1_000_000:g} s"
            yield Finding("REV-8", at, message, f"{LONGEST_USUAL_SUSTAIN_US} or less")


def misnamed(source: Source, value: Profile | PowerState) -> Iterator[Finding]:
    """REV-6. A text that is not a name is refused by another rule."""
    key = "profile" if source.kind is Kind.PROFILE else "state"
    if own_name(value.name) != stem_of(source.path) and is_name(own_name(value.name)):
        message = f"the {source.kind.value} {value.name!r} is in a file named {os.path.basename(source.path)!r}"
        yield Finding("REV-6", (key,), message, f"rename the file to {value.name}.yaml")


def hidden(source: Source, first_of_name: Mapping[str, str]) -> Iterator[Finding]:
    """REV-7. ``first_of_name`` is the file of each name."""
    first = first_of_name.get(stem_of(source.path))
    if first not in (None, source.path) and os.path.realpath(first) != os.path.realpath(source.path):
        message = f"the name {stem_of(source.path)!r} leads to {shown_path(first)}, not to this file"
        yield Finding("REV-7", ("profile",), message, "give the file and the profile a name of their own")


def _clocks_up(profile: Profile, state: PowerState) -> Iterator[str]:
    """Yield the clocks that a power state leaves as high as the profile holds them.

    A clock is lower if its highest corner is, or if DCVS may take it to a lower one.
    """
    for clock in ("core", "bus"):
        ours, theirs = (clock_cost(votes.hvx, clock) for votes in (profile.votes, state.votes))
        if any(ours) and theirs[0] >= ours[0] and theirs[1] >= ours[1]:
            at = ("votes", "dcvs_v3", clock)
            raised, lowered = (spell(_value(votes, at)) for votes in (profile.votes, state.votes))
            yield f"{state.name} does not lower the {clock} clock: {lowered}, {profile.name} {raised}"


def _others_up(profile: Profile, state: PowerState) -> Iterator[str]:
    hmx = state.votes.hmx_v2
    if hmx is not None and hmx != HMX_DEFAULT and hmx_cost(state.votes)[:1] >= hmx_cost(profile.votes)[:1]:
        yield f"{state.name} does not lower the HMX clock: {spell(hmx)}, {profile.name} {spell(profile.votes.hmx_v2)}"
    ceng = ceng_cost(state.votes)
    if ceng > ceng_cost(NO_VOTES) and ceng >= ceng_cost(profile.votes):
        raised, left = (spell(_value(votes, _CENG)) for votes in (profile.votes, state.votes))
        yield f"{state.name} does not lower the CENG clock: {left}, {profile.name} {raised}"
    lowered = state.votes.hvx
    if lowered is None:
        return
    if lowered.sleep_disable:
        yield f"{state.name} keeps the DSP from sleeping: sleep_disable true"
    raised_us = None if profile.votes.hvx is None else profile.votes.hvx.sleep_latency_us
    if lowered.sleep_latency_us is not None and raised_us is not None and lowered.sleep_latency_us < raised_us:
        said = f"{lowered.sleep_latency_us} us, {profile.name} {raised_us} us"
        yield f"{state.name} lets the DSP sleep less: a sleep latency of {said}"


def polling_left_on(state: PowerState) -> Iterator[Finding]:
    """REV-4: a power state leaves polling on."""
    for option, value in state.votes.items():
        about = VOTE_OPTIONS[option]
        name = about.field
        if value and about.process_wide and about.taken_back is not None:
            yield Finding("REV-4", ("votes", name), f"{state.name} leaves polling on: {name} {value}", f"{name}: 0")


def _written(votes: VoteSet, at: KeyPath) -> KeyPath:
    """Return the field of a vote, in the form that is cast."""
    if at[0] != "votes" or not at[1:]:
        return at
    return ("votes", votes.voted_field(BY_FIELD[at[1]].option), *at[2:])


def _value(votes: VoteSet, at: KeyPath) -> object:
    """Return the value of a vote field; None if it is unset."""
    return value_at(votes, _written(votes, at)[1:])

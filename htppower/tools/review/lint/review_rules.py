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
from htppower.rules.rule import MINE, Breach, Family, Rule, mine, my_votes
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
# Voting a switch off costs a call that most platforms refuse. A vote that switches it on is reset anyway.
_SWITCHES = frozenset(("votes", about.field) for about in VOTE_OPTIONS.values() if about.taken_back is False)
_CENG = ("votes", "ceng")
# The process-wide settings that use CPU time.
_POLLING = tuple(
    ("votes", about.field) for about in VOTE_OPTIONS.values() if about.process_wide and about.taken_back is not None
)
_STATE = "states/low.yaml"
_LOW = {_STATE: "state: low\nextends: relaxed\n", MINE: "profile: mine\nextends: burst\nrelax: {to: low}\n"}


def _review(rule_id: str, says: str, source: str = "a reviewer's question", **more: Any) -> Rule:
    return Rule(rule_id, says, Breach.WARNING, source, family=Family.REVIEW, **more)


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


_REV_1 = _review(
    "REV-1",
    "A field that one profile states is stated by the others of its table, too.",
    "ONNX Runtime issue 19728: a field that a mode leaves out keeps the value of the previous mode",
    why=(
        "Profiles of one folder are used in turn. A value that one sets and the next leaves unset looks like a "
        "vote of the next, but is not."
    ),
    mend="State it in every profile of the folder, or in none.",
    wrong={
        MINE: "profile: mine\nextends: burst\n",
        "other.yaml": "profile: other\nextends: burst\nvotes: {hmx_timeout_us: 500}\n",
    },
    right=my_votes("hmx_timeout_us: 500"),
)


def unstated(profile: Profile, shelf: Shelf) -> Iterator[Finding]:
    """REV-1. A profile without votes states nothing on purpose, and a switch that is off need not be stated."""
    if not profile.votes:
        return
    stated = shelf.stated
    for at, value in profile_fields(profile):
        if value is None and at in stated and at not in _SWITCHES and _written(profile.votes, at) == at:
            message = f"{profile.name} leaves {at[-1]} unset, which {stated[at]} states"
            yield Finding("REV-1", at, message, "state it in both, or in neither")


_REV_2 = _review(
    "REV-2",
    "No profile costs more than one above it in the vendor's table.",
    "vendor, profiles table",
    why=(
        "Hosts choose profiles by the vendor's order. A profile that costs more than the next above it turns that "
        "choice around."
    ),
    mend="Lower the vote, or extend a higher profile.",
    wrong=my_votes("dcvs_v3: {core: TURBO}", "low_balanced"),
    right=my_votes("dcvs_v3: {core: NOM}", "low_balanced"),
    fields=_POLLING,
)


def costs_more(profile: Profile, shelf: Shelf) -> Iterator[Finding]:
    """REV-2: a finding for each field, against the nearest profile above that costs less.

    If HMX follows the core, its cost is part of the core's and not reported again. A vote is not compared with a
    profile in which it has no effect.
    """
    above = [(other, _costs(other.votes)) for other in shelf.above(profile) if other.votes]
    follows = profile.votes.hmx_v2 in (None, HMX_DEFAULT)
    for at, cost in _costs(profile.votes).items():
        if follows and at == _HMX:
            continue
        needs = BY_FIELD[at[1]].needs
        for other, theirs in above:
            if theirs[at] < cost and (needs is None or other.votes.get(needs)):
                ours, less = (spell(_value(votes, at)) for votes in (profile.votes, other.votes))
                message = f"{at[-1]} {ours} costs more than {less} of {other.name}, which is above"
                hint = f"no more than {other.name}, or extend a higher profile"
                yield Finding("REV-2", _written(profile.votes, at), message, hint)
                break


# Each profile is compared with all profiles above it.
@functools.lru_cache(maxsize=64)
def _costs(votes: VoteSet) -> Mapping[KeyPath, Any]:
    return dict(costs(votes))


_REV_3 = _review(
    "REV-3",
    "Each power state of an active profile lowers what the profile raises.",
    why="A power state that leaves a clock as high as the profile's votes saves nothing between inferences.",
    mend="Relax to a power state below the votes.",
    wrong=mine("relax: {to: relaxed}", "low_power_saver"),
    right=mine("relax: {to: released}", "low_power_saver"),
    fields=(("relax", "to"), ("relax", "after_deinit_to"), ("relax", "then", "to")),
)


def no_way_down(profile: Profile) -> Iterator[Finding]:
    """REV-3. A profile whose core target is DISABLE has raised nothing."""
    hvx = profile.votes.hvx
    if hvx is None or not hvx.active:
        return
    for at, state in power_states(profile):
        for message in _left_up(profile, state):
            yield Finding("REV-3", at, message, f"{at[-1]}: a power state that lowers it")


_REV_8 = _review(
    "REV-8",
    "Votes stay up for at most 10 s after a phase.",
    "thirty times the 300 ms of the vendor's tools",
    why="Votes that stay up for seconds without an inference drain the battery; the vendor's tools use 300 ms.",
    mend="State 10000000 us or less.",
    wrong=mine("relax: {after_inference_us: 60000000}"),
    right=mine("relax: {after_inference_us: 300000}"),
    fields=(
        ("relax", "after_init_us"),
        ("relax", "after_inference_us"),
        ("relax", "after_inference_us", "adaptive", "most_us"),
    ),
)


def stays_up(profile: Profile) -> Iterator[Finding]:
    """REV-8: votes stay up for too long."""
    case = profile.case()
    for stay in filter(None, (case.after_init, case.after_inference)):
        # A time above the limit of its field is a separate error.
        if LONGEST_USUAL_SUSTAIN_US < stay.most_us <= LONGEST_SUSTAIN_US:
            at = (*stay.at, "adaptive", "most_us") if stay.is_learnt else stay.at
            up_to = "up to " if stay.is_learnt else ""
            message = f"votes stay up for {up_to}{stay.most_us / 1_000_000:g} s"
            yield Finding("REV-8", at, message, f"{LONGEST_USUAL_SUSTAIN_US} or less")


_REV_6 = _review(
    "REV-6",
    "A file has the name of the profile or power state in it, since names are looked up by file.",
    why="Names are looked up by file, so looking up the name in the file does not find it.",
    mend="Give the file and the profile the same name.",
    wrong={"camera.yaml": "profile: mine\nextends: burst\n"},
    right={"camera.yaml": "profile: camera\nextends: burst\n"},
    fields=(("profile",), ("state",)),
)


def misnamed(source: Source, value: Profile | PowerState) -> Iterator[Finding]:
    """REV-6. A text that is not a name is refused by another rule."""
    key = "profile" if source.kind is Kind.PROFILE else "state"
    if own_name(value.name) != stem_of(source.path) and is_name(own_name(value.name)):
        message = f"the {source.kind.value} {value.name!r} is in a file named {os.path.basename(source.path)!r}"
        yield Finding("REV-6", (key,), message, f"rename the file to {value.name}.yaml")


_REV_7 = _review(
    "REV-7",
    "The name of a file leads to it: no file of the same name hides it.",
    why="The first file of a name is used. This file is reviewed, but never used by its name.",
    mend="Give it a name that no other file has.",
    wrong={"burst.yaml": "profile: burst\nextends: balanced\n"},
    right={"burst.yaml": "", "my_burst.yaml": "profile: my_burst\nextends: balanced\n"},
)


def hidden(source: Source, first_of_name: Mapping[str, str]) -> Iterator[Finding]:
    """REV-7. ``first_of_name`` is the file of each name."""
    first = first_of_name.get(stem_of(source.path))
    if first not in (None, source.path) and os.path.realpath(first) != os.path.realpath(source.path):
        message = f"the name {stem_of(source.path)!r} leads to {shown_path(first)}, not to this file"
        yield Finding("REV-7", ("profile",), message, "give the file and the profile a name of their own")


def _left_up(profile: Profile, state: PowerState) -> Iterator[str]:
    """Yield what a power state leaves as high as the profile holds it.

    The core or bus clock is lower if its highest corner is, or if DCVS may take it to a lower one.
    """
    for clock in ("core", "bus"):
        ours, theirs = (clock_cost(votes.hvx, clock) for votes in (profile.votes, state.votes))
        if any(ours) and theirs[0] >= ours[0] and theirs[1] >= ours[1]:
            yield _not_lowered(profile, state, clock, ("votes", "dcvs_v3", clock))
    hmx = state.votes.hmx_v2
    if hmx not in (None, HMX_DEFAULT) and hmx_cost(state.votes)[:1] >= hmx_cost(profile.votes)[:1]:
        yield _not_lowered(profile, state, "HMX", _HMX)
    ceng = ceng_cost(state.votes)
    if ceng > ceng_cost(NO_VOTES) and ceng >= ceng_cost(profile.votes):
        yield _not_lowered(profile, state, "CENG", _CENG)
    raised, lowered = profile.votes.hvx, state.votes.hvx
    if lowered is not None and lowered.sleep_disable:
        yield f"{state.name} keeps the DSP from sleeping: sleep_disable true"
    raised_us, lowered_us = (None if hvx is None else hvx.sleep_latency_us for hvx in (raised, lowered))
    if lowered_us is not None and raised_us is not None and lowered_us < raised_us:
        said = f"{lowered_us} us, {profile.name} {raised_us} us"
        yield f"{state.name} lets the DSP sleep less: a sleep latency of {said}"


def _not_lowered(profile: Profile, state: PowerState, clock: str, at: KeyPath) -> str:
    raised, lowered = (spell(_value(votes, at)) for votes in (profile.votes, state.votes))
    return f"{state.name} does not lower the {clock} clock: {lowered}, {profile.name} {raised}"


_REV_4 = _review(
    "REV-4",
    "No power state leaves polling on.",
    "measured by others: 20 % to 200 % of a CPU core in an idle process",
    why="Polling keeps a CPU core busy, and between inferences there is nothing to wait for.",
    mend="State 0.",
    wrong={**_LOW, _STATE: f"{_LOW[_STATE]}votes: {{rpc_polling_time_us: 100}}\n"},
    right={_STATE: f"{_LOW[_STATE]}votes: {{rpc_polling_time_us: 0}}\n"},
    fields=_POLLING,
)
_REV_5 = _review(
    "REV-5",
    "Every power state is used by a profile.",
    why="Changes of an unused power state have no effect, or a profile fails to use it by mistake.",
    mend="Relax to it, or delete it.",
    wrong={**_LOW, MINE: "profile: mine\nextends: burst\n"},
    right={MINE: _LOW[MINE]},
)


def polling_left_on(state: PowerState) -> Iterator[Finding]:
    """REV-4: a power state leaves polling on."""
    for option, value in state.votes.items():
        about = VOTE_OPTIONS[option]
        name = about.field
        if value and about.process_wide and about.taken_back is not None:
            yield Finding("REV-4", ("votes", name), f"{state.name} leaves polling on: {name} {value}", f"{name}: 0")


def _written(votes: VoteSet, at: KeyPath) -> KeyPath:
    """Return the field of a vote, in the form that is sent."""
    if at[0] != "votes" or not at[1:]:
        return at
    return ("votes", votes.voted_field(BY_FIELD[at[1]].option), *at[2:])


def _value(votes: VoteSet, at: KeyPath) -> object:
    """Return the value of a vote field; None if it is unset."""
    return value_at(votes, _written(votes, at)[1:])

"""The fields of profiles and power states that no test checks.

The tests check a field if one of them fails whenever another value of the field makes other calls, or leads to another
state. So every field is changed, one at a time and to several values, and the cases that use its profile are run again.
A test that checks the field must notice the change.
"""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from htppower.errors import RuleBreach
from htppower.events import State
from htppower.profiles.discovery import Folders
from htppower.profiles.extends import resolve_file
from htppower.profiles.fields import profile_fields, spell, vote_fields
from htppower.profiles.profile import PowerState, Profile, Relax, file_of, power_states, with_states
from htppower.profiles.sustain import Adaptive
from htppower.tools.review.vote_tests.compare import holds
from htppower.tools.review.vote_tests.runner import run_case
from htppower.votes.clock_votes import HMX_DEFAULT, HVX_REMOVED, VoltageRange
from htppower.votes.corners import ClkPerfMode, PowerMode, VoltageCorner
from htppower.votes.options import BY_CLASS, BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

    from htppower.errors import KeyPath, Place
    from htppower.tools.review.vote_tests.cases import VoteCase
    from htppower.tools.review.vote_tests.runner import CaseRun

    _Change = Callable[[Profile], Profile]

    _File = TypeVar("_File", Profile, PowerState)

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
# It selects the thread that lowers the votes, which no test can see in virtual time.
_NO_VOTE = (("relax", "lowering"),)


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


class Look(enum.Enum):
    """Whether the tests check a field."""

    SEEN = "a test looks at it"
    HELD_BY_RULES = "the rules refuse every other value"
    UNSEEN = "no test looks at it"


@attrs.frozen
class Field:
    """A field of a file: its keys, its value as the file writes it, its place, and whether a test checks it."""

    at: KeyPath
    value: str
    place: Place | None
    look: Look


@attrs.frozen
class Coverage:
    """How much of one file the tests check; ``kind`` is profile or state."""

    kind: str
    name: str
    fields: tuple[Field, ...]

    def those(self, look: Look) -> tuple[Field, ...]:
        """Return the fields with this result."""
        return tuple(field for field in self.fields if field.look is look)


def coverage(
    cases: Iterable[VoteCase],
    profiles: Iterable[Profile] = (),
    states: Iterable[PowerState] = (),
    folders: Iterable[str | os.PathLike[str]] = (),
) -> tuple[Coverage, ...]:
    """Return how much passing cases check of the profiles that they use, and of the states that those relax to.

    The other profiles and states are included. ``folders`` are searched after the shipped folder.
    """
    where = Folders.of(folders)
    unchanged = [_Unchanged(case, run_case(case)) for case in cases]
    used = _each_once([*profiles, *(profile for case in unchanged for profile in case.case.profiles)])
    relaxed_to = _each_once([*states, *(state for profile in used for _, state in power_states(profile))])
    return (
        *(_of_profile(profile, unchanged) for profile in used),
        *(_of_state(state, unchanged, where) for state in relaxed_to),
    )


@attrs.frozen(eq=False)
class _Unchanged:
    """A case, and its run with no field changed."""

    case: VoteCase
    run: CaseRun

    def reaches(self, state: State, names: Container[str]) -> bool:
        """Return whether the session gets into a state under a profile with one of these names."""
        return any(change.dest is state and change.profile in names for change in self.run.transitions)


def _of_profile(profile: Profile, cases: Iterable[_Unchanged]) -> Coverage:
    own = [case for case in cases if any(_is_same(profile, used) for used in case.case.profiles)]
    cast = any(case.reaches(State.RAISED, (profile.name,)) for case in own)

    def changes(at: KeyPath) -> Iterator[_Change]:
        for mutant in profile_mutants(profile, at):
            yield lambda used, mutant=mutant: mutant if _is_same(profile, used) else used  # type: ignore[misc]

    told = ((at, value) for at, value in profile_fields(profile) if at not in _NO_VOTE)
    places = profile.origins
    fields = (Field(at, spell(value), places.get(at), _look(own, changes(at), cast=cast)) for at, value in told)
    return Coverage("profile", profile.name, tuple(fields))


def _of_state(state: PowerState, cases: Iterable[_Unchanged], folders: Folders) -> Coverage:
    own = [case for case in cases if any(_relaxes_to(used, state) for used in case.case.profiles)]
    names = {used.name for case in own for used in case.case.profiles if _relaxes_to(used, state)}
    cast = any(case.reaches(State.LOWERED, names) for case in own)

    def changes(at: KeyPath) -> Iterator[_Change]:
        for mutant in state_mutants(state, at):
            yield lambda used, mutant=mutant: _with_state(used, state, mutant)  # type: ignore[misc]

    places = {} if (file := file_of(state)) is None else resolve_file(file, folders, "state").places
    told = vote_fields(state.votes)
    fields = (Field(at, spell(value), places.get(at), _look(own, changes(at), cast=cast)) for at, value in told)
    return Coverage("state", state.name, tuple(fields))


class _Effect(enum.Enum):
    """The result of the cases with a field changed."""

    NOTICED = "a case fails"
    MISSED = "the calls or states differ, and no case fails"
    NONE = "nothing differs"
    REFUSED = "a rule refuses it in every case"


def _look(cases: Collection[_Unchanged], changes: Iterable[_Change], *, cast: bool) -> Look:
    """Return whether the cases check a field, from its changes; ``cast``: whether its votes are sent in one of them."""
    effects = set()
    for change in changes:
        effect = _effect(cases, change)
        if effect is _Effect.MISSED:
            return Look.UNSEEN
        effects.add(effect)
    if _Effect.NOTICED in effects:
        return Look.SEEN
    return Look.HELD_BY_RULES if cast and effects == {_Effect.REFUSED} else Look.UNSEEN


def _effect(cases: Iterable[_Unchanged], change: _Change) -> _Effect:
    effect = _Effect.REFUSED
    for unchanged in cases:
        changed = unchanged.case.with_profiles(change)
        try:
            run = run_case(changed)
        except RuleBreach:
            continue
        if not holds(changed, run):
            return _Effect.NOTICED
        if (run.calls, _states(run)) != (unchanged.run.calls, _states(unchanged.run)):
            effect = _Effect.MISSED
        elif effect is _Effect.REFUSED:
            effect = _Effect.NONE
    return effect


def _states(run: CaseRun) -> list[tuple[int, State]]:
    return [(change.time_us, change.dest) for change in run.transitions]


def _relaxes_to(profile: Profile, state: PowerState) -> bool:
    return any(_is_same(named, state) for _, named in power_states(profile))


def _with_state(profile: Profile, state: PowerState, other: PowerState) -> Profile:
    """Return the profile with another power state wherever it names this one."""
    if profile.relax is None:
        return profile
    relax = with_states(profile.relax, lambda named: other if _is_same(named, state) else named)
    return attrs.evolve(profile, relax=relax)


def _is_same(one: Profile | PowerState, other: Profile | PowerState) -> bool:
    """Return whether both are from the same file. If they are built in code, their values are compared."""
    return _identity(one) == _identity(other)


def _identity(file: Profile | PowerState) -> object:
    return file if (path := file_of(file)) is None else os.path.realpath(path)


def _each_once(found: Iterable[_File]) -> tuple[_File, ...]:
    once: dict[object, _File] = {}
    for each in found:
        once.setdefault(_identity(each), each)
    return tuple(once.values())

"""What changes between two resolved profiles, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from htppower.profiles.fields import LEFT_OUT, is_one_corner, limits, profile_fields, spell, vote_fields
from htppower.profiles.profile import NO_VOTES
from htppower.review.diff.causes import cause_of, stated
from htppower.review.diff.effects import Effect, effect_of
from htppower.review.diff.extension_source import ExtensionSource, extension_cause
from htppower.review.diff.same_effect import without_effect
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath, Place
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.review.diff.causes import Cause

# The phase in which a field acts, or between phases.
INIT = "init"
INFERENCE = "inference"
LOWERED = "lowered"
AFTER_DEINIT = "after_deinit"
FURTHER = "further"
_TO: KeyPath = ("relax", "to")
_THEN: KeyPath = ("relax", "then")
_LOWERING: KeyPath = ("relax", "lowering")
_AHEAD: KeyPath = ("relax", "raise_ahead_us")
# The fields that name a power state, and all of relax.
_STATES: dict[KeyPath, str] = {_TO: LOWERED, ("relax", "after_deinit_to"): AFTER_DEINIT, (*_THEN, "to"): FURTHER}
_RELAX_FIELDS: dict[KeyPath, str] = {
    _TO: LOWERED,
    ("relax", "after_init_us"): INIT,
    ("relax", "after_inference_us"): INFERENCE,
    _LOWERING: INFERENCE,
    ("relax", "after_deinit_to"): AFTER_DEINIT,
    _THEN: FURTHER,
    (*_THEN, "to"): FURTHER,
    (*_THEN, "after_us"): FURTHER,
    _AHEAD: INFERENCE,
}


@attrs.frozen(repr=False, eq=False)
class Change:
    """One field that differs.

    Attributes:
        profile: the name of the profile.
        when: ``inference`` for its votes and its sustain time, ``init`` for how long they stay up after INIT,
            ``lowered`` for the votes of its power state, ``after_deinit`` for those in which DE-INIT ends, ``further``
            for those to which it relaxes then; a state of a graph, such as ``init_start``, where an extension file has
            votes of its own there; empty for wording.
        field: such as ``dcvs_v3.core.min``.
        old_field: the field of the old value, where a vote has another form now: ``dcvs_v3.core`` of
            ``dcvs_v3_exp.core``; else empty.
        old, new: the values as a file spells them.
        effect: what the change does.
        place: where the new value is written; an inherited value, in its own file.
        old_place: where the old value was written.
        cause: the line of the change that did it: of the value, of ``extends``, or of the power state that is named.
    """

    profile: str
    when: str
    field: str
    old: str
    new: str
    effect: Effect
    place: Place
    old_place: Place
    cause: Cause
    old_field: str = ""


def changes_of_profile(old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    """Return what differs between two profiles, in the order of a file."""
    name = new.value.name
    voted = [_Side(each.value.votes, each.file) for each in (old, new)]
    found = [*_wording_changes(name, old, new), *_vote_changes(name, INFERENCE, *voted)]
    if not old.states and not new.states:
        return tuple(found)
    # Where each side has one power state, what changes in it is told once.
    named = (at for at in _STATES if at == _TO or any(_is_another(each, at) for each in (old, new)))
    lowered = {at: _lowered_changes(name, at, old, new) for at in named}
    found += _relax_changes(old, new, lowered)
    return (*found, *(change for changes in lowered.values() for change in changes))


def _is_another(profile: Examined[Profile], at: KeyPath) -> bool:
    """Return whether a field names another power state than that between the phases."""
    return profile.named.get(at) is not profile.named.get(_TO) and at in profile.named


def changes_of_part(old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    """Return what differs where one is of an extension file, in which profiles and power states have no names."""
    unnamed = ("profile", "name", "summary", *(_field(at) for at in _STATES))
    found = [change for change in changes_of_profile(old, new) if change.field not in unnamed]
    states = dict.fromkeys(state for each in (old, new) for state in _phases(each))
    for state in states:
        found += _vote_changes(new.value.name, state, *(_in_phase(each, state) for each in (old, new)))
    return tuple(found)


def _phases(part: Examined[Profile]) -> Mapping[str, tuple[VoteSet, ExtensionSource]]:
    return part.file.phases if isinstance(part.file, ExtensionSource) else {}


def _in_phase(part: Examined[Profile], state: str) -> _Side:
    """Return the votes on clocks in a state of a graph, in which most files vote as for inferences, or after them."""
    phases = _phases(part)
    if state in phases:
        return _Side(*phases[state])
    side = _Side(part.value.votes, part.file) if state.endswith("_start") else _lowered(part, _TO)
    of_clocks = ("dcvs_v3", "dcvs_v3_exp", "hmx_v2", "ceng", "ceng_exp")
    return _Side(VoteSet(**{field: getattr(side.votes, field) for field in of_clocks}), side.file)


def _lowered_changes(name: str, at: KeyPath, old: Examined[Profile], new: Examined[Profile]) -> list[Change]:
    """Return what differs between the power states that a field of ``relax`` names."""
    when, before, after = _STATES[at], _lowered(old, at), _lowered(new, at)
    wording = _state_wording(name, when, before, after, _state(old, at), _state(new, at))
    return [*_vote_changes(name, when, before, after), *wording]


def changes_of_state(old: Examined[PowerState], new: Examined[PowerState]) -> tuple[Change, ...]:
    """Return what differs between two power states that no profile uses."""
    sides = _Side(old.value.votes, old.file), _Side(new.value.votes, new.file)
    name = new.value.name
    return (*_vote_changes(name, LOWERED, *sides), *_state_wording(name, LOWERED, *sides, old, new))


class _Side(NamedTuple):
    """Votes, the file that says them, and, of a power state, the file of the profile that names it, and where."""

    votes: VoteSet
    file: ResolvedFile
    named_by: ResolvedFile | None = None
    named_at: KeyPath = ()


def _lowered(profile: Examined[Profile], at: KeyPath) -> _Side:
    state = _state(profile, at)
    named_at = at if at in profile.named else _TO
    if state is None:
        return _Side(NO_VOTES, profile.file, profile.file, named_at)
    return _Side(state.value.votes, state.file, profile.file, named_at)


def _state(profile: Examined[Profile], at: KeyPath) -> Examined[PowerState] | None:
    return profile.named.get(at) or profile.named.get(_TO)


def _wording_changes(name: str, old: Examined[Profile], new: Examined[Profile]) -> Iterator[Change]:
    sides = _Side(old.value.votes, old.file), _Side(new.value.votes, new.file)
    for field in ("name", "summary"):
        before, after = getattr(old.value, field), getattr(new.value, field)
        if before != after:
            at: KeyPath = ("profile",) if field == "name" else (field,)
            yield _change(name, "", at, (before, after), Effect.WORDING, sides)


def _state_wording(
    name: str,
    when: str,
    before: _Side,
    after: _Side,
    old: Examined[PowerState] | None,
    new: Examined[PowerState] | None,
) -> Iterator[Change]:
    """Yield the summary of a power state; another name shows as a change of the field that names it."""
    if old is None or new is None or old.value.name != new.value.name or old.value.summary == new.value.summary:
        return
    values = (old.value.summary, new.value.summary)
    yield _change(name, when, ("summary",), values, Effect.WORDING, (before, after))


def _vote_changes(name: str, when: str, old: _Side, new: _Side) -> Iterator[Change]:
    before, after = dict(vote_fields(old.votes)), dict(vote_fields(new.votes))
    # Where a vote has another form now, a field that both forms have is one field.
    moved = _moved(old.votes, new.votes, after)
    called = {at: old_at for old_at, at in moved.items()}
    spelt = before, after
    before = {moved.get(at, at): value for at, value in before.items()}
    told = []
    for at in _in_order(before, after):
        for part, values in _parts(at, before.get(at), after.get(at)):
            if values[0] != values[1]:
                effect = effect_of(part, *values, old.votes, new.votes)
                old_at = (*called.get(at, at), *part[len(at) :])
                told.append(part)
                yield _change(name, when, part, values, effect, (old, new), old_at)
    for at, one, other in without_effect(old.file, new.file, told, spelt):
        yield attrs.evolve(_change(name, when, at, (None, None), Effect.WORDING, (old, new)), old=one, new=other)


def _moved(old: VoteSet, new: VoteSet, after: Mapping[KeyPath, Any]) -> dict[KeyPath, KeyPath]:
    """Return the fields of votes that have another form now, with what the new form calls them."""
    moved: dict[KeyPath, KeyPath] = {}
    for field, about in BY_FIELD.items():
        other = None if about.other_form is None else VOTE_OPTIONS[about.other_form].field
        if other is None or getattr(new, field) is None or getattr(new, other) is not None:
            continue
        if getattr(old, other) is None or getattr(old, field) is not None:
            continue
        for at, _ in vote_fields(old):
            here = ("votes", field, *at[2:])
            if at[1] == other and here in after:
                moved[at] = here
    return moved


def _in_order(before: dict[KeyPath, Any], after: dict[KeyPath, Any]) -> Iterator[KeyPath]:
    """Yield the fields of both, in the order of a file; not a mapping that only one side leaves unset as a whole."""
    fields = dict.fromkeys((*before, *after) if len(before) > len(after) else (*after, *before))
    for at in fields:
        if not any(other != at and other[: len(at)] == at for other in fields):
            yield at


def _parts(at: KeyPath, old: Any, new: Any) -> Iterator[tuple[KeyPath, tuple[Any, Any]]]:
    """Yield a field as a whole, or part by part where both values have the same parts and one is no single corner."""
    before, after = dict(limits(at, old)), dict(limits(at, new))
    if before.keys() != after.keys() or (is_one_corner(old) and is_one_corner(new)):
        yield at, (old, new)
        return
    for part, value in before.items():
        yield part, (value, after[part])


def _relax_changes(
    old: Examined[Profile], new: Examined[Profile], lowered: Mapping[KeyPath, list[Change]]
) -> Iterator[Change]:
    name, sides = new.value.name, (_Side(old.value.votes, old.file), _Side(new.value.votes, new.file))
    # Relaxing to another power state has the weightiest effect of what that changes.
    effects = {
        at: min((change.effect for change in changes), key=list(Effect).index, default=Effect.WORDING)
        for at, changes in lowered.items()
    }
    effects[_THEN] = effects.get((*_THEN, "to"), Effect.CHANGES_TIMING)
    effects[_LOWERING] = _lowering_effect(old.value, new.value)
    effects[_AHEAD] = Effect.CHANGES_LATENCY
    for at, before, after in _relax_fields(old.value, new.value):
        for part, values in _parts(at, before, after):
            if values[0] != values[1] and (at not in _STATES or at in lowered):
                effect = effects.get(at, Effect.CHANGES_TIMING)
                yield _change(name, _RELAX_FIELDS[at], part, values, effect, sides)


def _relax_fields(old: Profile, new: Profile) -> Iterator[tuple[KeyPath, Any, Any]]:
    """Yield the fields of ``relax`` with both values; ``then`` as a whole where only one side has it."""
    before, after = ({at: value for at, value in profile_fields(each) if at[0] == "relax"} for each in (old, new))
    thens = _then(before), _then(after)
    for at in _RELAX_FIELDS:
        if at[:2] != _THEN or None not in thens:
            one, other = (each.get(at, LEFT_OUT.get(at)) for each in (before, after))
            yield at, one, other
        elif at == _THEN:
            yield at, thens[0], thens[1]


def _then(fields: Mapping[KeyPath, Any]) -> str | None:
    """Return ``then`` as a file spells it, None where there is none."""
    parts = [f"{at[-1]}: {spell(value)}" for at, value in fields.items() if at[:-1] == _THEN]
    return f"{{{', '.join(parts)}}}" if parts else None


def _lowering_effect(old: Profile, new: Profile) -> Effect:
    """Return the effect of lowering in the background, which is none where a timer lowers anyway (rule SUS-3)."""
    one, other = (each.relax is not None and each.relax.lowers_in_background for each in (old, new))
    return Effect.WORDING if one == other else Effect.CHANGES_TIMING


def _change(
    name: str,
    when: str,
    at: KeyPath,
    values: tuple[Any, Any],
    effect: Effect,
    sides: tuple[_Side, _Side],
    old_at: KeyPath | None = None,
) -> Change:
    old, new = sides
    before, after = (_field(each) for each in (old_at or at, at))
    return Change(
        name,
        when,
        after,
        spell(values[0]),
        spell(values[1]),
        effect,
        place=new.file.place(at),
        old_place=old.file.place(old_at or at),
        cause=_cause(at, old, new),
        old_field="" if before == after else before,
    )


def _field(at: KeyPath) -> str:
    return ".".join(at[1:] if at[0] == "votes" else at)


def _cause(at: KeyPath, old: _Side, new: _Side) -> Cause:
    if isinstance(old.file, ExtensionSource) or isinstance(new.file, ExtensionSource):
        return extension_cause(at, old.file, new.file)
    if old.named_by is not None and new.named_by is not None:
        before, after = stated(old.named_by.tree, old.named_at), stated(new.named_by.tree, new.named_at)
        if before != after:
            return cause_of(new.named_at, old.named_by, new.named_by)
    return cause_of(at, old.file, new.file)

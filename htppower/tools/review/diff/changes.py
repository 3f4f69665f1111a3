"""The changes between two resolved profiles, field by field: wording, votes, power states, times to relax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import shortened
from htppower.profiles.fields import CPU_LATENCY, LEFT_OUT, profile_fields, spell, vote_fields
from htppower.profiles.profile import NO_VOTES
from htppower.tools.review.diff.change import Change, ExtensionSource, Side, change_of, field_name, parts_of
from htppower.tools.review.diff.effects import Effect, effect_of
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile

_LONGEST = 60
# The phase of a field: INIT, inferences, or the time between phases.
INIT = "init"
INFERENCE = "inference"
LOWERED = "lowered"
AFTER_DEINIT = "after_deinit"
FURTHER = "further"
TO: KeyPath = ("relax", "to")
_THEN: KeyPath = ("relax", "then")
_LOWERING: KeyPath = ("relax", "lowering")
_AHEAD: KeyPath = ("relax", "raise_ahead_us")
# The fields that name a power state, and all fields of relax.
STATES: dict[KeyPath, str] = {TO: LOWERED, ("relax", "after_deinit_to"): AFTER_DEINIT, (*_THEN, "to"): FURTHER}
_RELAX_FIELDS: dict[KeyPath, str] = {
    TO: LOWERED,
    ("relax", "after_init_us"): INIT,
    ("relax", "after_inference_us"): INFERENCE,
    _LOWERING: INFERENCE,
    ("relax", "after_deinit_to"): AFTER_DEINIT,
    _THEN: FURTHER,
    (*_THEN, "to"): FURTHER,
    (*_THEN, "after_us"): FURTHER,
    _AHEAD: INFERENCE,
}


def changes_of_profile(old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    """Return what differs between two profiles, or parts of extension files, in the order of a file."""
    if not any(isinstance(each.file, ExtensionSource) for each in (old, new)):
        return _changes(old, new)
    # The parts of an extension file, and their power states, have no names.
    unnamed = ("profile", "name", "summary", *(field_name(at) for at in STATES))
    found = [change for change in _changes(old, new) if change.field not in unnamed]
    for state in dict.fromkeys(state for each in (old, new) for state in _phases(each)):
        found += _vote_changes(new.value.name, state, *(_in_phase(each, state) for each in (old, new)))
    return tuple(found)


def _changes(old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    name = new.value.name
    voted = [Side(each.value.votes, each.file) for each in (old, new)]
    found = [*_wording_changes(name, old, new), *_vote_changes(name, INFERENCE, *voted)]
    limits = old.value.cpu_latency_us, new.value.cpu_latency_us
    if limits[0] != limits[1]:
        found.append(change_of(name, INFERENCE, CPU_LATENCY, limits, Effect.CHANGES_LATENCY, (voted[0], voted[1])))
    if not old.states and not new.states:
        return tuple(found)
    lowered: dict[KeyPath, list[Change]] = {}
    for at, when in STATES.items():
        # If each side has only one power state, its changes are reported once.
        if at == TO or any(each.named.get(at, each.named.get(TO)) is not each.named.get(TO) for each in (old, new)):
            sides, states = (_lowered(old, at), _lowered(new, at)), (_state(old, at), _state(new, at))
            lowered[at] = list(_state_changes(name, when, sides, states))
    found += relax_changes(old, new, lowered)
    return (*found, *(change for changes in lowered.values() for change in changes))


def _phases(part: Examined[Profile]) -> Mapping[str, tuple[VoteSet, ExtensionSource]]:
    return part.file.phases if isinstance(part.file, ExtensionSource) else {}


def _in_phase(part: Examined[Profile], state: str) -> Side:
    """Return the votes on clocks in a state of a graph. Most files vote there as for inferences, or as after them."""
    phases = _phases(part)
    if state in phases:
        return Side(*phases[state])
    side = Side(part.value.votes, part.file) if state.endswith("_start") else _lowered(part, TO)
    of_clocks = ("dcvs_v3", "dcvs_v3_exp", "hmx_v2", "ceng", "ceng_exp")
    return Side(VoteSet(**{field: getattr(side.votes, field) for field in of_clocks}), side.file)


def changes_of_state(old: Examined[PowerState], new: Examined[PowerState]) -> tuple[Change, ...]:
    """Return what differs between two power states that no profile uses."""
    sides = Side(old.value.votes, old.file), Side(new.value.votes, new.file)
    return tuple(_state_changes(new.value.name, LOWERED, sides, (old, new)))


def _state_changes(
    name: str, when: str, sides: tuple[Side, Side], states: tuple[Examined[PowerState] | None, ...]
) -> Iterator[Change]:
    """Yield what differs between two power states. Another name is a change of the field that names the state."""
    yield from _vote_changes(name, when, *sides)
    old, new = (None if each is None else (each.value.name, each.value.summary) for each in states)
    if old is not None and new is not None and old[0] == new[0] and old[1] != new[1]:
        yield change_of(name, when, ("summary",), (old[1], new[1]), Effect.WORDING, sides)


def _lowered(profile: Examined[Profile], at: KeyPath) -> Side:
    state = _state(profile, at)
    named_at = at if at in profile.named else TO
    if state is None:
        return Side(NO_VOTES, profile.file, profile.file, named_at)
    return Side(state.value.votes, state.file, profile.file, named_at)


def _state(profile: Examined[Profile], at: KeyPath) -> Examined[PowerState] | None:
    return profile.named.get(at) or profile.named.get(TO)


def _wording_changes(name: str, old: Examined[Profile], new: Examined[Profile]) -> Iterator[Change]:
    sides = Side(old.value.votes, old.file), Side(new.value.votes, new.file)
    for field in ("name", "summary"):
        before, after = getattr(old.value, field), getattr(new.value, field)
        if before != after:
            at: KeyPath = ("profile",) if field == "name" else (field,)
            yield change_of(name, "", at, (before, after), Effect.WORDING, sides)


def _vote_changes(name: str, when: str, old: Side, new: Side) -> Iterator[Change]:
    before, after = dict(vote_fields(old.votes)), dict(vote_fields(new.votes))
    # If a vote has another form now, a field that both forms have counts as the same field.
    moved = _moved(old.votes, new.votes, after)
    called = {at: old_at for old_at, at in moved.items()}
    spelt = before, after
    before = {moved.get(at, at): value for at, value in before.items()}
    told = []
    for at in _in_order(before, after):
        for part, values in parts_of(at, before.get(at), after.get(at)):
            if values[0] != values[1]:
                effect = effect_of(part, *values, old.votes, new.votes)
                old_at = (*called.get(at, at), *part[len(at) :])
                told.append(part)
                yield change_of(name, when, part, values, effect, (old, new), old_at)
    for at, one, other in _without_effect(old.file, new.file, told, spelt):
        yield attrs.evolve(change_of(name, when, at, (None, None), Effect.WORDING, (old, new)), old=one, new=other)


def _moved(old: VoteSet, new: VoteSet, after: Mapping[KeyPath, Any]) -> dict[KeyPath, KeyPath]:
    """Return the fields of votes that have another form now, with their names in the new form."""
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
    """Yield the fields of both, in the order of a file, except a mapping that only one side leaves unset as a whole."""
    fields = dict.fromkeys((*before, *after) if len(before) > len(after) else (*after, *before))
    for at in fields:
        if not any(other != at and other[: len(at)] == at for other in fields):
            yield at


def _without_effect(
    old: ResolvedFile, new: ResolvedFile, told: Collection[KeyPath], spelt: tuple[Mapping[KeyPath, Any], ...]
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the vote fields that two sides write differently with the same effect, each with both values.

    Args:
        old: the file of the old side.
        new: the file of the new side.
        told: the fields that are already reported, because their effect differs.
        spelt: the values of the votes, by field, of the side that is not an extension file.
    """
    sides = [each.values if isinstance(each, ExtensionSource) else None for each in (old, new)]
    for at in dict.fromkeys(at for side in sides if side is not None for at in side):
        if at[0] != "votes" or any(at[: len(each)] == each or each[: len(at)] == at for each in told):
            continue
        written = [None if side is None else side.get(at) for side in sides]
        unsaid = any(isinstance(each, ExtensionSource) and at in each.unsaid for each in (old, new))
        if not unsaid and None in written:
            continue
        said = [_said(value, values.get(at)) for value, values in zip(written, spelt, strict=True)]
        if said[0] != said[1]:
            yield at, said[0], said[1]


def _said(written: Any, value: Any) -> str:
    if written is None:
        return spell(value)
    return shortened(str(written).lower() if isinstance(written, bool) else str(written), _LONGEST)


def relax_changes(
    old: Examined[Profile], new: Examined[Profile], lowered: Mapping[KeyPath, list[Change]]
) -> Iterator[Change]:
    """Yield what differs in ``relax``, given the changes in the power states that it names."""
    name, sides = new.value.name, (Side(old.value.votes, old.file), Side(new.value.votes, new.file))
    # Relaxing to another power state has the largest of the effects of its changes.
    effects = {
        at: min((change.effect for change in changes), key=list(Effect).index, default=Effect.WORDING)
        for at, changes in lowered.items()
    }
    effects[_THEN] = effects.get((*_THEN, "to"), Effect.CHANGES_TIMING)
    effects[_LOWERING] = _lowering_effect(old.value, new.value)
    effects[_AHEAD] = Effect.CHANGES_LATENCY
    for at, before, after in _relax_fields(old.value, new.value):
        for part, values in parts_of(at, before, after):
            if values[0] != values[1] and (at not in STATES or at in lowered):
                effect = effects.get(at, Effect.CHANGES_TIMING)
                yield change_of(name, _RELAX_FIELDS[at], part, values, effect, sides)


def _relax_fields(old: Profile, new: Profile) -> Iterator[tuple[KeyPath, Any, Any]]:
    """Yield the fields of ``relax`` with both values; ``then`` as a whole if only one side has it."""
    before, after = ({at: value for at, value in profile_fields(each) if at[0] == "relax"} for each in (old, new))
    thens = _then(before), _then(after)
    for at in _RELAX_FIELDS:
        if at[:2] != _THEN or None not in thens:
            one, other = (each.get(at, LEFT_OUT.get(at)) for each in (before, after))
            yield at, one, other
        elif at == _THEN:
            yield at, thens[0], thens[1]


def _then(fields: Mapping[KeyPath, Any]) -> str | None:
    """Return ``then`` as a file writes it; None if the profile has none."""
    parts = [f"{at[-1]}: {spell(value)}" for at, value in fields.items() if at[:-1] == _THEN]
    return f"{{{', '.join(parts)}}}" if parts else None


def _lowering_effect(old: Profile, new: Profile) -> Effect:
    """Return the effect of lowering in the background. It has none if a timer lowers anyway (rule SUS-3)."""
    one, other = (each.relax is not None and each.relax.lowers_in_background for each in (old, new))
    return Effect.WORDING if one == other else Effect.CHANGES_TIMING

"""What changes between two resolved profiles, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.fields import has_corners, is_one_corner, limits, profile_fields, spell, vote_fields
from htppower.profiles.profile import NO_VOTES
from htppower.review.diff.effects import Effect, effect_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Path, Place
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.votes.vote_set import VoteSet

# The phase in which a field acts, or between phases.
INIT = "init"
INFERENCE = "inference"
LOWERED = "lowered"
_RELAX_FIELDS = {"to": LOWERED, "after_init_us": INIT, "after_inference_us": INFERENCE, "lowering": INFERENCE}


@attrs.frozen(repr=False, eq=False)
class Change:
    """One field that differs.

    Attributes:
        profile: the name of the profile.
        when: ``inference`` for its votes and its sustain time, ``init`` for how long they stay up after INIT,
            ``lowered`` for the votes of its power state; empty for wording.
        field: such as ``dcvs_v3.core.min``.
        old, new: the values as a file spells them.
        effect: what the change does.
        place: where the new value is written; an inherited value, in its own file.
        old_place: where the old value was written.
    """

    profile: str
    when: str
    field: str
    old: str
    new: str
    effect: Effect
    place: Place
    old_place: Place


def changes_of_profile(old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    """Return what differs between two profiles, in the order of a file."""
    name = new.value.name
    voted = [(each.value.votes, each.file) for each in (old, new)]
    found = [*_wording_changes(name, old, new), *_vote_changes(name, INFERENCE, *voted)]
    if old.state is None and new.state is None:
        return tuple(found)
    lowered = list(_vote_changes(name, LOWERED, _lowered(old), _lowered(new)))
    found += _relax_changes(old, new, lowered)
    words = _state_wording(name, old.state, new.state) if old.state is not None and new.state is not None else ()
    return (*found, *lowered, *words)


def changes_of_state(old: Examined[PowerState], new: Examined[PowerState]) -> tuple[Change, ...]:
    """Return what differs between two power states that no profile uses."""
    sides = [(each.value.votes, each.file) for each in (old, new)]
    return (*_vote_changes(new.value.name, LOWERED, *sides), *_state_wording(new.value.name, old, new))


_Side = tuple["VoteSet", "ResolvedFile"]


def _lowered(profile: Examined[Profile]) -> _Side:
    if profile.state is None:
        return NO_VOTES, profile.file
    return profile.state.value.votes, profile.state.file


def _wording_changes(name: str, old: Examined[Profile], new: Examined[Profile]) -> Iterator[Change]:
    for field in ("name", "summary"):
        before, after = getattr(old.value, field), getattr(new.value, field)
        if before != after:
            at: Path = ("profile",) if field == "name" else (field,)
            yield _change(name, "", at, (before, after), Effect.WORDING, (old.file, new.file))


def _state_wording(name: str, old: Examined[PowerState], new: Examined[PowerState]) -> Iterator[Change]:
    """Yield the summary of a power state; another name shows as a change of ``relax.to``."""
    if old.value.name == new.value.name and old.value.summary != new.value.summary:
        values = (old.value.summary, new.value.summary)
        yield _change(name, LOWERED, ("summary",), values, Effect.WORDING, (old.file, new.file))


def _vote_changes(name: str, when: str, old: _Side, new: _Side) -> Iterator[Change]:
    before, after = dict(vote_fields(old[0])), dict(vote_fields(new[0]))
    for at in _in_order(before, after):
        for part, values in _parts(at, before.get(at), after.get(at)):
            if values[0] != values[1]:
                effect = effect_of(part, *values, old[0], new[0])
                yield _change(name, when, part, values, effect, (old[1], new[1]))


def _in_order(before: dict[Path, Any], after: dict[Path, Any]) -> Iterator[Path]:
    """Yield the fields of both, in the order of a file; not a mapping that only one side leaves unset as a whole."""
    fields = dict.fromkeys((*before, *after) if len(before) > len(after) else (*after, *before))
    for at in fields:
        if not any(other != at and other[: len(at)] == at for other in fields):
            yield at


def _parts(at: Path, old: Any, new: Any) -> Iterator[tuple[Path, tuple[Any, Any]]]:
    """Yield a field as a whole, or limit by limit where both values have corners and one is not a single corner."""
    if not (has_corners(old) and has_corners(new)) or (is_one_corner(old) and is_one_corner(new)):
        yield at, (old, new)
        return
    before, after = dict(limits(at, old)), dict(limits(at, new))
    for part, value in before.items():
        yield part, (value, after[part])


def _relax_changes(old: Examined[Profile], new: Examined[Profile], lowered: list[Change]) -> Iterator[Change]:
    name, files = new.value.name, (old.file, new.file)
    before, after = (
        {at[1]: value for at, value in profile_fields(each.value) if at[0] == "relax" and at[1:]} for each in (old, new)
    )
    # Relaxing to another power state has the weightiest effect of what that changes.
    weightiest = min((change.effect for change in lowered), key=list(Effect).index, default=Effect.WORDING)
    effects = {"to": weightiest, "lowering": _lowering_effect(old.value, new.value)}
    for field, when in _RELAX_FIELDS.items():
        values = (before.get(field), after.get(field))
        if values[0] != values[1]:
            effect = effects.get(field, Effect.CHANGES_TIMING)
            yield _change(name, when, ("relax", field), values, effect, files)


def _lowering_effect(old: Profile, new: Profile) -> Effect:
    """Return the effect of lowering in the background, which is none where a timer lowers anyway (rule SUS-3)."""
    one, other = (each.relax is not None and each.relax.lowers_in_background for each in (old, new))
    return Effect.WORDING if one == other else Effect.CHANGES_TIMING


def _change(
    name: str, when: str, at: Path, values: tuple[Any, Any], effect: Effect, files: tuple[ResolvedFile, ResolvedFile]
) -> Change:
    field = ".".join(at[1:] if at[0] == "votes" else at)
    before, after = (file.place(at) for file in files)
    return Change(name, when, field, spell(values[0]), spell(values[1]), effect, after, before)

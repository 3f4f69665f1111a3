"""The changes in ``relax``: the power states that it names, and after how long they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.profiles.fields import LEFT_OUT, profile_fields, spell
from htppower.tools.review.diff.change import Change, Side, change_of, parts_of
from htppower.tools.review.diff.effects import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile

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
